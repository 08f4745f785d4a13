// SPDX-License-Identifier: Apache-2.0
// What prepare() of the kernels with TFLite's int16 arithmetic has in common.
#pragma once
#include "kernels/common/prepare_s16.h"
#include "kernels/integer/sum_16x8.h"

namespace deuteron {

// int64, an entry for each channel: a bias.
inline const char* why_not_wide_sums(const Tensor& t, int32_t channels) {
  if (t.type != ScalarType::s64) return "must be int64";
  if (!is_aligned(t, 8)) return "must be 8-aligned";
  if (t.numel != channels) return "must have one entry for each output channel";
  return nullptr;
}

// The bias of a layer and what brings its sums to the result's steps: three arguments that stand
// together. Without a bias, and with one of int64, sums have 64 bits.
struct Sums16x8 {
  const int64_t* wide = nullptr;
  const int32_t* narrow = nullptr;  // not null: sums have 32 bits
  const int32_t *multiplier = nullptr, *shift = nullptr;
};
inline Status read_sums_16x8(const Call& call, int bias, int32_t channels, Sums16x8* s) {
  if (const Tensor* given = call.optional_tensor(bias)) {
    if (given->type == ScalarType::s32) {
      if (const char* why = why_not_channel_sums(*given, channels)) return bad_argument(bias, why);
      s->narrow = static_cast<const int32_t*>(given->data);
    } else {
      if (const char* why = why_not_wide_sums(*given, channels)) return bad_argument(bias, why);
      s->wide = static_cast<const int64_t*>(given->data);
    }
  }
  const Tensor &multipliers = call.tensor(bias + 1), &shifts = call.tensor(bias + 2);
  const bool is_narrow = s->narrow != nullptr;
  const char* why = is_narrow ? why_not_multipliers(multipliers, channels)
                              : why_not_channel_constants(multipliers, channels, 0, 32767);
  if (why) return bad_argument(bias + 1, why);
  why = is_narrow ? why_not_shifts(shifts, channels)
                  : why_not_channel_constants(shifts, channels, kLeastShift16x8, kMostShift16x8);
  if (why) return bad_argument(bias + 2, why);
  s->multiplier = static_cast<const int32_t*>(multipliers.data);
  s->shift = static_cast<const int32_t*>(shifts.data);
  return Status{};
}

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
