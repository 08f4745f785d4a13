// SPDX-License-Identifier: Apache-2.0
// Weighted sums along one axis: what resizing, uneven pooling and transforms of a fixed length are.
#pragma once
#include <string_view>
#include <vector>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Element o of the result is the sum over i of weights[o * in + i] times element i.
struct Weights {
  i64 out, in;
  std::vector<float> values;
  Weights(i64 o, i64 i) : out(o), in(i), values(static_cast<size_t>(o * i), 0.0f) {}
  float& at(i64 o, i64 i) { return values[static_cast<size_t>(o * in + i)]; }
};

// A fully connected layer where the weights are many; where each sum has few of many terms,
// products of elements that are picked.
ValueId weighted_along(Call& c, ValueId x, i64 axis, const Weights& weights,
                       std::string_view suffix = {});

}  // namespace deuteron::pt2
