// SPDX-License-Identifier: Apache-2.0
// Rules that make one table of every function of one element.
#pragma once
#include <span>

#include "ir/rewrite/patch.h"

namespace deuteron {

// In float, before quantization.
std::span<const Rule> pointwise_rules();

// The number that a constant of one element holds, also behind a dequantize.
std::optional<float> scalar_of(const Graph& g, const Uses& uses, ValueId v);

}  // namespace deuteron
