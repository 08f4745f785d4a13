// SPDX-License-Identifier: Apache-2.0
// The steps of TFLite's LSTM over any inner loop (kernels/recurrent/kernel.h) and any cells.
#pragma once
#include "kernels/integer/logistic_s16.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"

namespace deuteron {

struct PortableCells {
  static constexpr int32_t kUnits = 1;  // at a time

  // Gates of unit j in Q3.12, from its sums of products.
  static void gates(const SequenceLstmArgs& a, int32_t j, const int32_t (&of_x)[kLstmGates],
                    const int32_t (&of_h)[kLstmGates], int16_t* gates) {
    for (int32_t g = 0, r = j; g < kLstmGates; ++g, r += a.units) {
      const int32_t of_input =
          saturate_s16(requantize(add_wrapping(a.bias[r], of_x[g]), a.multiplier[g], a.shift[g]));
      const int32_t k = kLstmGates + g,
                    of_state = requantize(add_wrapping(a.recurrent_bias[r], of_h[g]),
                                          a.multiplier[k], a.shift[k]);
      // From 2^17 on it saturates whatever the other is.
      gates[g] =
          static_cast<int16_t>(saturate_s16(clamp_to(of_state, -(1 << 17), 1 << 17) + of_input));
    }
  }

  // From the gates of `count` units their cell states and their results.
  static void update(const SequenceLstmArgs& a, const int16_t (&gates)[kUnits][kLstmGates],
                     int32_t count, int16_t* c, int8_t* h) {
    for (int32_t j = 0; j < count; ++j) {
      const int32_t i = gemmlowp_logistic_q15(gates[j][0]), f = gemmlowp_logistic_q15(gates[j][1]);
      int32_t cell = round_shift_right(i * gemmlowp_tanh_q15(gates[j][2], 3), 30 - a.cell_bits);
      cell = saturate_s16(round_shift_right(f * c[j], 15) + cell);
      if (a.cell_clip > 0) cell = clamp_to(cell, -a.cell_clip, a.cell_clip);
      c[j] = static_cast<int16_t>(cell);
      const int32_t product =
          gemmlowp_logistic_q15(gates[j][3]) * gemmlowp_tanh_q15(cell, 15 - a.cell_bits);
      h[j] = requantize_to_s8(static_cast<uint32_t>(product), a.y_multiplier, a.y_shift, a.y_zero,
                              -128, 127);
    }
  }
};

template <class Rows, class Cells>
void run_sequence_lstm(const SequenceLstmArgs& a) {
  for (int32_t n = 0; n < a.batch; ++n) {
    const int8_t* h = a.h_0 + n * a.units;
    int16_t* const c = a.c_n + n * a.units;
    for (int32_t j = 0; j < a.units; ++j) c[j] = a.c_0[n * a.units + j];
    for (int32_t t = 0; t < a.steps; ++t) {
      const int32_t row = a.batch_first ? n * a.steps + t : t * a.batch + n;
      int8_t* const y = a.y + row * a.units;
      for (int32_t j = 0; j < a.units; j += Cells::kUnits) {
        int16_t gates[Cells::kUnits][kLstmGates];
        const int32_t count = a.units - j < Cells::kUnits ? a.units - j : Cells::kUnits;
        for (int32_t k = j; k < j + count; ++k) {
          int32_t of_x[kLstmGates], of_h[kLstmGates];
          Rows::sum(a.weight + k * a.inputs, a.units * a.inputs, a.x + row * a.inputs, a.inputs,
                    of_x);
          Rows::sum(a.recurrent + k * a.units, a.units * a.units, h, a.units, of_h);
          Cells::gates(a, k, of_x, of_h, gates[k - j]);
        }
        Cells::update(a, gates, count, c + j, y + j);
      }
      h = y;
    }
    for (int32_t j = 0; j < a.units; ++j) a.h_n[n * a.units + j] = h[j];
  }
}

}  // namespace deuteron
