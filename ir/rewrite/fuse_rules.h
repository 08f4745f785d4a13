// SPDX-License-Identifier: Apache-2.0
// Rules that put one operator into another, for float and int8 operators alike.
#pragma once
#include <span>

#include "ir/rewrite/patch.h"

namespace deuteron {

std::span<const Rule> fuse_rules();

std::optional<Patch> pad_below_channel_reshape(const Graph& g, const Uses& uses, NodeId root);

// ir/rewrite/fuse_matmul.cpp
std::optional<Patch> fuse_factor_behind_matmul(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> fuse_factor_before_matmul(const Graph& g, const Uses& uses, NodeId root);

// A padding whose numbers are steps of every scale.
bool pads_with_zeros(const Op& op);

}  // namespace deuteron
