// SPDX-License-Identifier: Apache-2.0
// One layer of int8 LSTM cells; both directions where there are two. Gates, shapes and limits:
// kernels/recurrent/kernel.h, rows i, f, g, o.
//   c   = saturate16(round((f * c + ((i * g) >> (15 - cell_bits))) / 2^15))      int16 with
//   cell_bits behind the point y   = clamp(y_zero + rq(o * tanh(c as Q3.12)), -128, 127) rq(v) =
//   requantize(v, y_multiplier, y_shift), v in 2^-30 c_n = clamp(last_zero + requantize(c * 2^15,
//   last_multiplier, last_shift), -128, 127) c begins as saturate16(requantize(c_0 - first_zero,
//   first_multiplier, first_shift)), or 0 without c_0
// Units    cell_bits 0..15; first_shift -31..20, last_shift -31..0
// Scratch  cells: units int16, 2-aligned
#pragma once
#include "kernels/recurrent/kernel.h"

namespace deuteron {

template <class Step>
struct LstmArgsOf {
  RecurrentArgsOf<Step> layer;
  int32_t cell_bits;
  int32_t first_zero, first_multiplier, first_shift;
  int32_t last_zero, last_multiplier, last_shift;
  const Step* c_0;  // may be null
  Step* c_n;
  int16_t* cells;
};
using LstmArgs = LstmArgsOf<int8_t>;
using LstmS16Args = LstmArgsOf<int16_t>;

void lstm_s8(const LstmArgs& a);
// The same with an instruction set. They read nothing beyond their operands.
void lstm_s8_mve(const LstmArgs& a);
void lstm_s8_dsp(const LstmArgs& a);
void lstm_s8_scalar(const LstmArgs& a);

}  // namespace deuteron
