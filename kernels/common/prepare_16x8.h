// SPDX-License-Identifier: Apache-2.0
// What prepare() of the kernels with TFLite's int16 arithmetic has in common.
#pragma once
#include "kernels/common/row.h"
#include "kernels/integer/sum_16x8.h"

namespace deuteron {

// int64, an entry for each channel: a bias.
const char* why_not_wide_sums(const Tensor& t, int32_t channels);

// The bias of a layer and what brings its sums to the result's steps: three arguments that stand
// together. Without a bias, and with one of int64, sums have 64 bits.
struct Sums16x8 {
  const int64_t* wide = nullptr;
  const int32_t* narrow = nullptr;  // not null: sums have 32 bits
  const int32_t *multiplier = nullptr, *shift = nullptr;
};
bool read_sums_16x8(const Call& call, int bias, int32_t channels, Sums16x8* sums, Status* why);

// Keeps the call of the kernel that has sums as wide as these. Wide and narrow, in this order, for
// every core; with MVE; with DSP.
template <auto wide, auto narrow, auto wide_mve = wide, auto narrow_mve = narrow,
          auto wide_dsp = wide, auto narrow_dsp = narrow, class Args>
Status keep_16x8(Call& call, Prepared* prepared, const Args& a, const Tensor& x,
                 const Tensor& weight, const Sums16x8& s, const Tensor& y) {
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int8_t*>(weight.data);
  auto* to = static_cast<int16_t*>(y.data);
  if (s.narrow != nullptr)
    return keep_fastest<narrow, narrow_mve, narrow_dsp>(call, prepared, a, from, weights, s.narrow,
                                                        s.multiplier, s.shift, to);
  return keep_fastest<wide, wide_mve, wide_dsp>(call, prepared, a, from, weights, s.wide,
                                                s.multiplier, s.shift, to);
}

}  // namespace deuteron
