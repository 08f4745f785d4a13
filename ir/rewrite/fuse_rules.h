// SPDX-License-Identifier: Apache-2.0
// Rules that put one operator into another, for float and int8 operators alike.
#pragma once
#include <span>

#include "ir/rewrite/patch.h"

namespace deuteron {

std::span<const Rule> fuse_rules();

extern const Rule kPadBelowChannelReshape;

// ir/rewrite/fuse_matmul.cpp
extern const Rule kFuseFactorBehindMatmul, kFuseFactorBeforeMatmul, kShareRepeatedOperand;

// A padding whose numbers are steps of every scale.
bool pads_with_zeros(const Op& op);

}  // namespace deuteron
