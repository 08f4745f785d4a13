// SPDX-License-Identifier: Apache-2.0
// The row of layers' limits on the NPU that says whether their sums stay in int32: products, bias,
// and what a positive shift makes of them.
#pragma once
#include "ops/npu.h"

namespace deuteron {

inline constexpr NpuCondition kSumsStay = must_hold(
    "a sum of products may leave int32, or does once it is shifted to the result's scale");

// Of x, a constant weight of int8 whose filters follow one another, and perhaps a bias: 1 or 0.
// Nothing before they are quantized.
std::optional<i64> sums_fit_on_npu(const NpuOperands& o);
template <class T>
std::optional<i64> sums_stay_in_int32(const T&, const NpuOperands& o) {
  return sums_fit_on_npu(o);
}

}  // namespace deuteron
