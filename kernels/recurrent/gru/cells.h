// SPDX-License-Identifier: Apache-2.0
// GRU cells over any inner loop (kernels/recurrent/kernel.h).
#pragma once
#include "kernels/recurrent/gru/kernel.h"

namespace deuteron {

inline int64_t within_30_bits(int64_t v) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return v < -kMost ? -kMost : v > kMost ? kMost : v;
}

template <class Rows, class Step>
void run_gru(const GruArgsOf<Step>& a) {
  const int32_t units = a.layer.units;
  run_recurrent<Rows>(
      a.layer, 3 * units,
      [&](int32_t d, int32_t n) {
        const Step* from =
            a.layer.h_0 != nullptr ? a.layer.h_0 + (d * a.layer.batch + n) * units : nullptr;
        for (int32_t j = 0; j < units; ++j)
          a.states[j] = static_cast<int16_t>(
              from == nullptr ? 0
                              : saturate_s16(requantize(from[j] - a.first_zero, a.first_multiplier,
                                                        a.first_shift)));
      },
      [&](const RecurrentStep<Rows, Step>& s) {
        for (int32_t j = 0; j < units; ++j) {
          typename RecurrentStep<Rows, Step>::Sum of_x[3], of_h[3];
          s.sums(j, of_x, of_h);
          const int32_t r = sigmoid_q15(s.gate(j, of_x[0], of_h[0])),
                        z = sigmoid_q15(s.gate(units + j, of_x[1], of_h[1]));
          const int32_t row = 2 * units + j, shift = s.shift[row];
          const int64_t in = within_30_bits(scaled_gate(s.of_input(row, of_x[2]), shift)),
                        st = within_30_bits(scaled_gate(s.of_state(row, of_h[2]), shift));
          const int32_t n = tanh_q15(saturate_s16(in + ((r * st + (1 << 14)) >> 15)));
          const int32_t h = saturate_s16(
              (int64_t{z} * a.states[j] + (((32768 - z) * n) >> (15 - a.state_bits)) + (1 << 14)) >>
              15);
          a.states[j] = static_cast<int16_t>(h);
          put_step(s.h_new + j, static_cast<uint32_t>(h * 32768), a.layer.y_multiplier,
                   a.layer.y_shift, a.layer.y_zero);
        }
      },
      [](int32_t, int32_t) {});
}

}  // namespace deuteron
