// SPDX-License-Identifier: Apache-2.0
#include "ops/common/sum_range.h"

#include <algorithm>
#include <limits>

namespace deuteron {

template <class T>
static SumRange range_of_sums(std::span<const T> filter, const Quant& x, i64 bias) {
  SumRange sum{bias, bias};
  for (const T w : filter) {
    const i64 at_low = i64{w} * (x.low - x.zero_point[0]),
              at_high = i64{w} * (x.high - x.zero_point[0]);
    sum.low += std::min(at_low, at_high), sum.high += std::max(at_low, at_high);
  }
  return sum;
}

SumRange sum_range(std::span<const int16_t> filter, const Quant& x, i64 bias) {
  return range_of_sums(filter, x, bias);
}
SumRange sum_range(std::span<const int8_t> filter, const Quant& x, i64 bias) {
  return range_of_sums(filter, x, bias);
}

i64 folded_bias(std::span<const int8_t> filter, i32 x_zero, i64 bias) {
  i64 sum = 0;
  for (const int8_t w : filter) sum += w;
  return bias - x_zero * sum;
}

bool fits_int32(const SumRange& sum) {
  return sum.low >= std::numeric_limits<i32>::min() && sum.high <= std::numeric_limits<i32>::max();
}

}  // namespace deuteron
