// SPDX-License-Identifier: Apache-2.0
// TFLite's integer LSTM over a sequence: int8 steps and weights, a cell state of int16, rows of the
// gates in the order i, f, g, o. A step:
//   gate[r] = sat(rq(recurrent_bias[r] + sum over j of recurrent[r,j] * h[j]) + sat(rq(bias[r] +
//   sum over i of weight[r,i] * x[i]))) c       = clip(sat(round(f * c / 2^15) + round(i * g /
//   2^(30 - cell_bits))))       i, f, o = logistic(gate), g = tanh(gate), Q3.12 h, y    =
//   clamp(y_zero + requantize(o * tanh(c), y_multiplier, y_shift), -128, 127)
// rq is requantize() with the numbers of the gate, of the input's sum or of the state's; sat
// saturates at 16 bits; round is to nearest, ties away from zero; logistic and tanh are those of
// kernels/integer/logistic_s16.h. Shapes   x [t,n,inputs], y [t,n,units] (batch_first: n before t)
// h_0, c_0, h_n, c_n [n,units]   weight [4 * units, inputs]
//          recurrent [4 * units, units]   bias, recurrent_bias [4 * units], which have the zero
//          points of x and h in them
// Units    cell_bits behind the point of c, 9..15; cell_clip 0 (none) or 1..32767, in steps of c;
// multipliers and shifts of the gates by
//          gate, of the input's sums first: kernels/integer/requantize.h, rounded twice
// Limits   inputs, units <= 32768; sums are taken modulo 2^32
// Scratch  none   Errors  none   Aliasing  nothing overlaps
// Source   TFLite's kernel LstmStepInteger8x8_16, without peepholes, projection and normalization
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kLstmGates = 4;

struct SequenceLstmArgs {
  int32_t steps, batch, inputs, units;
  bool batch_first;
  int32_t multiplier[2 * kLstmGates], shift[2 * kLstmGates];
  int32_t cell_bits, cell_clip;
  int32_t y_zero, y_multiplier, y_shift;
  const int8_t *weight, *recurrent;
  const int32_t *bias, *recurrent_bias;
  const int8_t *x, *h_0;
  const int16_t* c_0;
  int8_t *y, *h_n;
  int16_t* c_n;
};

void sequence_lstm_s8(const SequenceLstmArgs& a);
// The same with an instruction set. They read nothing beyond their operands.
void sequence_lstm_s8_mve(const SequenceLstmArgs& a);
void sequence_lstm_s8_dsp(const SequenceLstmArgs& a);
void sequence_lstm_s8_scalar(const SequenceLstmArgs& a);

}  // namespace deuteron
