// The arguments that the recurrent kernels have in common, checked at load.
#pragma once
#include "ops/device/prepare.h"
#include "ops/recurrent/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(RecurrentArgs, steps, batch, inputs, units, directions, batch_first, reverse, sequence, y_zero, y_multiplier, y_shift,
                weight, recurrent, bias, recurrent_bias, multiplier, recurrent_multiplier, shift, x, h_0, y, h_n)

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
Status read_recurrent(const Call& call, int32_t gates, int y, int h_n, RecurrentArgs* args);

// A state: int8 [directions,n,units].
const char* why_not_state(const Tensor& t, const RecurrentArgs& a);
// The int16 states of one direction and batch entry.
const char* why_not_scratch(const Tensor& t, int64_t bytes, uintptr_t alignment);

}  // namespace deuteron
