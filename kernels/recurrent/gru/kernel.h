// SPDX-License-Identifier: Apache-2.0
// One layer of int8 GRU cells; both directions where there are two. Gates, shapes and limits:
// kernels/recurrent/kernel.h, rows r, z, n.
//   n = tanh(saturate16(in + round(r * st / 2^15)))     in, st: the input's and the state's part of
//   that gate, each rounded by itself and
//                                                       kept within +-2^30
//   h = saturate16(round((z * h + (((2^15 - z) * n) >> (15 - state_bits))) / 2^15))    int16 with
//   state_bits behind the point y = clamp(y_zero + requantize(h * 2^15, y_multiplier, y_shift),
//   -128, 127) h begins as saturate16(requantize(h_0 - first_zero, first_multiplier, first_shift)),
//   or 0 without h_0
// An update smaller than half a step of y would be lost if the int8 were all that is kept, so z and
// h work on 16 bits. Units    state_bits 0..15; first_shift -31..20 Scratch  states: units int16,
// 2-aligned
#pragma once
#include "kernels/recurrent/kernel.h"

namespace deuteron {

template <class Step>
struct GruArgsOf {
  RecurrentArgsOf<Step> layer;
  int32_t state_bits;
  int32_t first_zero, first_multiplier, first_shift;
  int16_t* states;
};
using GruArgs = GruArgsOf<int8_t>;
using GruS16Args = GruArgsOf<int16_t>;

void gru_s8(const GruArgs& a);
// The same with an instruction set. They read nothing beyond their operands.
void gru_s8_mve(const GruArgs& a);
void gru_s8_dsp(const GruArgs& a);
void gru_s8_scalar(const GruArgs& a);

}  // namespace deuteron
