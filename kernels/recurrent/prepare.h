// SPDX-License-Identifier: Apache-2.0
// The arguments that the recurrent kernels have in common, checked at load.
#pragma once
#include "kernels/common/row.h"
#include "kernels/recurrent/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(RecurrentArgs, steps, batch, inputs, units, directions, batch_first, reverse,
                sequence, y_zero, y_multiplier, y_shift, weight, recurrent, bias, recurrent_bias,
                multiplier, recurrent_multiplier, shift, x, h_0, y, h_n)
DEUTERON_FIELDS(RecurrentS16Args, steps, batch, inputs, units, directions, batch_first, reverse,
                sequence, y_zero, y_multiplier, y_shift, weight, recurrent, bias, recurrent_bias,
                multiplier, recurrent_multiplier, shift, x, h_0, y, h_n)

enum {
  kRecurrentX,
  kRecurrentInitial,
  kRecurrentWeight,
  kRecurrentStateWeight,
  kRecurrentBias,
  kRecurrentStateBias,
  kRecurrentMultiplier,
  kRecurrentStateMultiplier,
  kRecurrentShift,
  kRecurrentBatchFirst,
  kRecurrentReverse,
  kRecurrentSequence,
  kRecurrentYZero,
  kRecurrentYMultiplier,
  kRecurrentYShift,
  kRecurrentOwn  // the kernel's own arguments begin here
};

// `y` and `h_n`: the positions of these outs. Fills everything.
// Step: int8_t or int16_t, of x, weights and states.
template <class Step>
Status read_recurrent(const Call& call, int32_t gates, int y, int h_n, RecurrentArgsOf<Step>* args);

// A state: [directions,n,units].
template <class Step>
const char* why_not_state(const Tensor& t, const RecurrentArgsOf<Step>& a);

template <class Step>
bool is_step(int64_t v) {
  if constexpr (sizeof(Step) == 1) return is_s8(v);
  else return lies_in(v, -32768, 32767);
}
template <class Step>
inline constexpr const char* kNotAFirstShift = sizeof(Step) == 1 ? "must be -31..20"
                                                                 : "must be -31..14";

template <class Step>
inline constexpr const char* kNotAStep = sizeof(Step) == 1 ? "must be int8" : "must be int16";
// The int16 states of one direction and batch entry.
const char* why_not_scratch(const Tensor& t, int64_t bytes, uintptr_t alignment);

}  // namespace deuteron
