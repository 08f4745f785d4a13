// SPDX-License-Identifier: Apache-2.0
// The multiplier of an int8 sum or mean, from the scales as TFLite's SUM and MEAN derive it: one
// for the CPU and for the NPU.
#pragma once
#include <algorithm>
#include <bit>

#include "ops/common/multiplier.h"

namespace deuteron {

inline constexpr i64 kMostSummed = i64{1}
                                   << 23;  // int8 values less their zero point stay within int32

// Of the sum of `count` elements less their zero point; a sum has the count 1. The division by
// `count` goes into the factor: value * 2^k / count, cut off, with the largest k that keeps the
// shift in range.
inline Result<Multiplier> reduce_multiplier(const Quant& x, const Quant& y, i64 count, Ties ties,
                                            const char* rule) {
  const auto m = checked_multiplier(
      static_cast<double>(x.scale[0]) / static_cast<double>(y.scale[0]), ties, rule);
  if (!m) return m.why;
  const int k = std::min(
      {static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1, 32, 31 + m->shift});
  return Multiplier{static_cast<i32>((static_cast<i64>(m->value) << k) / count), m->shift - k};
}

}  // namespace deuteron
