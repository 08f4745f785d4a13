// SPDX-License-Identifier: Apache-2.0
// LSTM cells over any inner loop (kernels/recurrent/kernel.h).
#pragma once
#include "kernels/recurrent/lstm/kernel.h"

namespace deuteron {

inline int32_t cell_as_q12(int32_t c, int32_t bits) {
  if (bits > 12) return (c + (1 << (bits - 13))) >> (bits - 12);
  return saturate_s16(int64_t{c} * (1 << (12 - bits)));
}

// One step of all units.
struct LstmUnits {
  template <class Rows, class Step>
  static void update(const LstmArgsOf<Step>& a, const RecurrentStep<Rows, Step>& s) {
    for (int32_t j = 0; j < a.layer.units; ++j) {
      int32_t gate[4];
      s.all(j, gate);
      const int32_t i = sigmoid_q15(gate[0]), f = sigmoid_q15(gate[1]), g = tanh_q15(gate[2]),
                    o = sigmoid_q15(gate[3]);
      const int32_t c = saturate_s16(
          (int64_t{f} * a.cells[j] + ((i * g) >> (15 - a.cell_bits)) + (1 << 14)) >> 15);
      a.cells[j] = static_cast<int16_t>(c);
      put_step(s.h_new + j, static_cast<uint32_t>(o * tanh_q15(cell_as_q12(c, a.cell_bits))),
               a.layer.y_multiplier, a.layer.y_shift, a.layer.y_zero);
    }
  }
};

template <class Rows, class Step, class Units = LstmUnits>
void run_lstm(const LstmArgsOf<Step>& a) {
  const int32_t units = a.layer.units;
  run_recurrent<Rows>(
      a.layer, 4 * units,
      [&](int32_t d, int32_t n) {
        const Step* from = a.c_0 != nullptr ? a.c_0 + (d * a.layer.batch + n) * units : nullptr;
        for (int32_t j = 0; j < units; ++j)
          a.cells[j] = static_cast<int16_t>(
              from == nullptr ? 0
                              : saturate_s16(requantize(from[j] - a.first_zero, a.first_multiplier,
                                                        a.first_shift)));
      },
      [&](const RecurrentStep<Rows, Step>& s) { Units::update(a, s); },
      [&](int32_t d, int32_t n) {
        Step* to = a.c_n + (d * a.layer.batch + n) * units;
        for (int32_t j = 0; j < units; ++j)
          put_step(to + j, static_cast<uint32_t>(a.cells[j] * 32768), a.last_multiplier,
                   a.last_shift, a.last_zero);
      });
}

}  // namespace deuteron
