// SPDX-License-Identifier: Apache-2.0
// plain RNN cells over any inner loop (kernels/recurrent/kernel.h).
#pragma once
#include "kernels/recurrent/rnn/kernel.h"

namespace deuteron {

template <class Rows>
void run_rnn(const RnnArgs& a) {
  const auto nothing = [](int32_t, int32_t) {};
  const RecurrentArgs& l = a.layer;
  run_recurrent<Rows>(
      l, l.units, nothing,
      [&](const RecurrentStep<Rows, int8_t>& s) {
        for (int32_t j = 0; j < l.units; ++j) {
          int32_t gates[1];
          s.all(j, gates);
          const int32_t gate = gates[0];
          s.h_new[j] = a.relu ? static_cast<int8_t>(clamp_to(l.y_zero + gate, l.y_zero, 127))
                              : requantize_to_s8(static_cast<uint32_t>(tanh_q15(gate) * 32768),
                                                 l.y_multiplier, l.y_shift, l.y_zero, -128, 127);
        }
      },
      nothing);
}

}  // namespace deuteron
