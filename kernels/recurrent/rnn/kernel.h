// SPDX-License-Identifier: Apache-2.0
// One layer of int8 plain recurrent cells; both directions where there are two. Gates, shapes and
// limits: kernels/recurrent/kernel.h, one row for each unit.
//   tanh  y = clamp(y_zero + requantize(tanh(gate) * 2^15, y_multiplier, y_shift), -128, 127)
//   relu  y = clamp(y_zero + gate, y_zero, 127), the gate in steps of y
// Scratch  none
#pragma once
#include "kernels/recurrent/kernel.h"

namespace deuteron {

struct RnnArgs {
  RecurrentArgs layer;
  bool relu;
};

void rnn_s8(const RnnArgs& a);
// The same with an instruction set. They read nothing beyond their operands.
void rnn_s8_mve(const RnnArgs& a);
void rnn_s8_dsp(const RnnArgs& a);

}  // namespace deuteron
