// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ops/op.h"

namespace deuteron {

// The largest and the smallest sum of a filter's integers times numbers within x's range of steps,
// counted from its zero point, and of its bias.
struct SumRange {
  i64 low = 0, high = 0;
};
SumRange sum_range(std::span<const int16_t> filter, const Quant& x, i64 bias);
SumRange sum_range(std::span<const int8_t> filter, const Quant& x, i64 bias);
bool fits_int32(const SumRange& sum);

// A bias with what the zero point of x adds to every sum of a filter.
i64 folded_bias(std::span<const int8_t> filter, i32 x_zero, i64 bias);

}  // namespace deuteron
