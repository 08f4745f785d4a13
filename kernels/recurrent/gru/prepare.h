// SPDX-License-Identifier: Apache-2.0
// The arguments of the GRU kernels, checked at load.
#pragma once
#include "kernels/recurrent/gru/kernel.h"
#include "kernels/recurrent/prepare.h"

namespace deuteron {

DEUTERON_FIELDS(GruArgs, layer, state_bits, first_zero, first_multiplier, first_shift, states)
DEUTERON_FIELDS(GruS16Args, layer, state_bits, first_zero, first_multiplier, first_shift, states)

// Fills everything.
template <class Step>
[[gnu::always_inline]] inline Status read_gru(Call& call, GruArgsOf<Step>& a) {
  enum {
    kStateBits = kRecurrentOwn,
    kFirstZero,
    kFirstMultiplier,
    kFirstShift,
    kY,
    kLastState,
    kScratch
  };
  if (Status s = read_recurrent(call, 3, kY, kLastState, &a.layer); !s.ok()) return s;
  const Tensor& scratch = call.tensor(kScratch);
  if (!lies_in(call.integer(kStateBits), 0, 15)) return bad_argument(kStateBits, "must be 0..15");
  if (!is_step<Step>(call.integer(kFirstZero))) return bad_argument(kFirstZero, kNotAStep<Step>);
  if (!is_multiplier(call.integer(kFirstMultiplier)))
    return bad_argument(kFirstMultiplier, "is out of range");
  if (!lies_in(call.integer(kFirstShift), -31, kMostFirstShift<Step>))
    return bad_argument(kFirstShift, kNotAFirstShift<Step>);
  if (const char* why = why_not_scratch(scratch, 2 * int64_t{a.layer.units}, 2))
    return bad_argument(kScratch, why);
  a.state_bits = static_cast<int32_t>(call.integer(kStateBits));
  a.first_zero = static_cast<int32_t>(call.integer(kFirstZero));
  a.first_multiplier = static_cast<int32_t>(call.integer(kFirstMultiplier));
  a.first_shift = static_cast<int32_t>(call.integer(kFirstShift));
  a.states = static_cast<int16_t*>(scratch.data);
  return Status{};
}

}  // namespace deuteron
