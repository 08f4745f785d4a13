// SPDX-License-Identifier: Apache-2.0
// The arguments of the LSTM kernels, checked at load.
#pragma once
#include "kernels/recurrent/lstm/kernel.h"
#include "kernels/recurrent/prepare.h"

namespace deuteron {

DEUTERON_FIELDS(LstmArgs, layer, cell_bits, first_zero, first_multiplier, first_shift, last_zero,
                last_multiplier, last_shift, c_0, c_n, cells)
DEUTERON_FIELDS(LstmS16Args, layer, cell_bits, first_zero, first_multiplier, first_shift, last_zero,
                last_multiplier, last_shift, c_0, c_n, cells)

// Fills everything.
template <class Step>
[[gnu::always_inline]] inline Status read_lstm(Call& call, LstmArgsOf<Step>& a) {
  enum {
    kInitialCell = kRecurrentOwn,
    kCellBits,
    kFirstZero,
    kFirstMultiplier,
    kFirstShift,
    kLastZero,
    kLastMultiplier,
    kLastShift,
    kY,
    kLastState,
    kLastCell,
    kScratch
  };
  if (Status s = read_recurrent(call, 4, kY, kLastState, &a.layer); !s.ok()) return s;
  const Tensor *c_0 = call.optional_tensor(kInitialCell), &c_n = call.tensor(kLastCell),
               &scratch = call.tensor(kScratch);
  if ((c_0 != nullptr) != (a.layer.h_0 != nullptr))
    return bad_argument(kInitialCell, "must be given when the hidden state is");
  if (c_0 != nullptr)
    if (const char* why = why_not_state(*c_0, a.layer)) return bad_argument(kInitialCell, why);
  if (!lies_in(call.integer(kCellBits), 0, 15)) return bad_argument(kCellBits, "must be 0..15");
  constexpr int kZeros[] = {kFirstZero, kLastZero},
                kMultipliers[] = {kFirstMultiplier, kLastMultiplier};
  for (const int zero : kZeros)
    if (!is_step<Step>(call.integer(zero))) return bad_argument(zero, kNotAStep<Step>);
  for (const int multiplier : kMultipliers)
    if (!is_multiplier(call.integer(multiplier)))
      return bad_argument(multiplier, "is out of range");
  if (!lies_in(call.integer(kFirstShift), -31, kMostFirstShift<Step>))
    return bad_argument(kFirstShift, kNotAFirstShift<Step>);
  if (!lies_in(call.integer(kLastShift), -31, 0)) return bad_argument(kLastShift, "must be -31..0");
  if (const char* why = why_not_state(c_n, a.layer)) return bad_argument(kLastCell, why);
  if (const char* why = why_not_scratch(scratch, 2 * int64_t{a.layer.units}, 2))
    return bad_argument(kScratch, why);
  const auto number = [&call](int at) { return static_cast<int32_t>(call.integer(at)); };
  a.cell_bits = number(kCellBits);
  a.first_zero = number(kFirstZero);
  a.first_multiplier = number(kFirstMultiplier);
  a.first_shift = number(kFirstShift);
  a.last_zero = number(kLastZero);
  a.last_multiplier = number(kLastMultiplier);
  a.last_shift = number(kLastShift);
  a.c_0 = c_0 != nullptr ? static_cast<const Step*>(c_0->data) : nullptr;
  a.c_n = static_cast<Step*>(c_n.data);
  a.cells = static_cast<int16_t*>(scratch.data);
  return Status{};
}

}  // namespace deuteron
