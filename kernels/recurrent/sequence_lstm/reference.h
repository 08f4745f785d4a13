// SPDX-License-Identifier: Apache-2.0
// The steps of kernel.h in wide integers. Host only, for tests.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/integer/requantize_reference.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"

namespace deuteron {

inline int64_t s16_reference(int64_t v) { return std::clamp<int64_t>(v, -32768, 32767); }

// `logistic` and `tanh` are the functions of the kernel, which have tests of their own.
template <class Logistic, class Tanh>
void sequence_lstm_reference(const SequenceLstmArgs& a, const Logistic& logistic, const Tanh& tanh,
                             std::vector<int8_t>& y, std::vector<int8_t>& h_n,
                             std::vector<int16_t>& c_n) {
  const int64_t units = a.units;
  for (int64_t n = 0; n < a.batch; ++n) {
    std::vector<int64_t> h(a.h_0 + n * units, a.h_0 + (n + 1) * units),
        c(a.c_0 + n * units, a.c_0 + (n + 1) * units);
    for (int64_t t = 0; t < a.steps; ++t) {
      const int64_t row = a.batch_first ? n * a.steps + t : t * a.batch + n;
      const auto gate = [&](int64_t g, int64_t j) {
        const int64_t r = g * units + j;
        int64_t of_x = a.bias[r], of_h = a.recurrent_bias[r];
        for (int64_t i = 0; i < a.inputs; ++i)
          of_x += int64_t{a.weight[r * a.inputs + i]} * a.x[row * a.inputs + i];
        for (int64_t k = 0; k < units; ++k)
          of_h += a.recurrent[r * units + k] * h[static_cast<size_t>(k)];
        const int64_t first =
            s16_reference(requantize_reference(of_x, a.multiplier[g], a.shift[g]));
        return s16_reference(first +
                             requantize_reference(of_h, a.multiplier[4 + g], a.shift[4 + g]));
      };
      std::vector<int64_t> next(h.size());
      for (int64_t j = 0; j < units; ++j) {
        int64_t& cell = c[static_cast<size_t>(j)];
        const int64_t i = logistic(gate(0, j)), f = logistic(gate(1, j)), g = tanh(gate(2, j), 3);
        cell = s16_reference(divide_reference(f * cell, 15) +
                             divide_reference(i * g, 30 - a.cell_bits));
        if (a.cell_clip > 0) cell = std::clamp<int64_t>(cell, -a.cell_clip, a.cell_clip);
        const int64_t product = logistic(gate(3, j)) * tanh(cell, 15 - a.cell_bits);
        next[static_cast<size_t>(j)] = std::clamp<int64_t>(
            a.y_zero + requantize_reference(product, a.y_multiplier, a.y_shift), -128, 127);
        y[static_cast<size_t>(row * units + j)] = static_cast<int8_t>(next[static_cast<size_t>(j)]);
      }
      h = next;
    }
    for (size_t j = 0; j < h.size(); ++j) {
      h_n[static_cast<size_t>(n * units) + j] = static_cast<int8_t>(h[j]);
      c_n[static_cast<size_t>(n * units) + j] = static_cast<int16_t>(c[j]);
    }
  }
}

}  // namespace deuteron
