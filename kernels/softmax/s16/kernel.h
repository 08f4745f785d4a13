// SPDX-License-Identifier: Apache-2.0
// int16 softmax of each row, in fixed point: y has scale 2^-15 and zero point 0.
//   d = x[r,i] - max(x[r]); e = 0 where d < diff_min, else exp(d * 2^shift * multiplier / 2^31 as
//   Q5.26), Q0.31 (kernels/softmax/exponential.h) S = sum of e, exact; k the number for which T = S
//   >> k has 31 bits; R = (2^61 + T/2) / T y = min((e * R + 2^(45+k)) >> (46+k), 32767)
// Shapes   x, y [rows,columns]   storage order, no gaps
// Units    multiplier Q0.31; shift 0..31: the input's scale in Q5.26; diff_min <= 0 in steps,
// min(65535, -diff_min) * 2^shift <= 2^31 Limits   columns 1..65536, so that k <= 16 Scratch  none
// Errors  none   Aliasing  y may be x   Source  docs/precision.md; the exponential is TFLite's of
// int8
#pragma once
#include "kernels/softmax/kernel.h"

namespace deuteron {

inline constexpr int32_t kSoftmaxS16MostColumns = 1 << 16;

void softmax_s16(const SoftmaxArgs& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
