// SPDX-License-Identifier: Apache-2.0
// One layer of LSTM, GRU or plain RNN cells by the definitions of the kernel.h files, slow and
// obvious, and the same in real numbers. Host only, for tests.
#pragma once
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/integer/requantize_reference.h"
#include "kernels/recurrent/kernel.h"

namespace deuteron {

// floor(v / 2^bits) and round(v / 2^bits), halves up.
inline __int128 floor_reference(__int128 v, int bits) {
  const __int128 d = static_cast<__int128>(1) << bits;
  return v >= 0 ? v / d : -((-v + d - 1) / d);
}
inline __int128 round_up_reference(__int128 v, int bits) {
  return bits == 0 ? v : floor_reference(v + (static_cast<__int128>(1) << (bits - 1)), bits);
}
inline int64_t saturate_reference(__int128 v, int64_t low, int64_t high) {
  return static_cast<int64_t>(v < low ? low : v > high ? high : v);
}

inline int64_t tanh_point_reference(int64_t k) {
  return static_cast<int64_t>(std::nearbyint(32768 * std::tanh(static_cast<double>(k) / 32)));
}
// tanh between points that are 2^bits apart.
inline int64_t tanh_reference(int64_t v, int bits) {
  const int64_t magnitude = std::min<int64_t>(std::abs(v), bits == 7 ? 32767 : 32768),
                k = magnitude / (int64_t{1} << bits);
  const int64_t t =
      tanh_point_reference(k) + static_cast<int64_t>(round_up_reference(
                                    (tanh_point_reference(k + 1) - tanh_point_reference(k)) *
                                        (magnitude % (int64_t{1} << bits)),
                                    bits));
  return v < 0 ? -t : t;
}
inline int64_t sigmoid_reference(int64_t v) {
  return static_cast<int64_t>(floor_reference(32768 + tanh_reference(v, 8) + 1, 1));
}

// The gate sums of one step, as unrounded numbers with shift[r] bits behind the point.
struct GateReference {
  std::vector<__int128> input, state;
  std::vector<int> shift;
  int64_t both(int64_t r) const {
    return saturate_reference(round_up_reference(input[r] + state[r], shift[r]), -32768, 32767);
  }
};

// next(unit, gates, direction, entry) gives the step of the new state; it keeps what else it needs
// by direction, entry and unit.
template <class Step>
void recurrent_reference(
    const RecurrentArgsOf<Step>& a, int64_t rows,
    const std::function<int64_t(int64_t, const GateReference&, int64_t, int64_t)>& next) {
  const int64_t kinds = a.h_0 ? 2 : 1;
  for (int64_t d = 0; d < a.directions; ++d)
    for (int64_t n = 0; n < a.batch; ++n) {
      std::vector<int64_t> h(static_cast<size_t>(a.units));
      for (int64_t j = 0; j < a.units; ++j)
        h[j] = a.h_0 ? a.h_0[(d * a.batch + n) * a.units + j] : a.y_zero;
      for (int64_t s = 0; s < a.steps; ++s) {
        const int64_t t = (d == 1) != a.reverse ? a.steps - 1 - s : s,
                      kind = kinds == 2 && s == 0 ? 1 : 0;
        const int64_t row = a.batch_first ? n * a.steps + t : t * a.batch + n;
        GateReference g;
        for (int64_t r = 0; r < rows; ++r) {
          const int64_t at = d * rows + r, state_at = (d * kinds + kind) * rows + r;
          __int128 in = a.bias[at], st = a.recurrent_bias[state_at];
          for (int64_t i = 0; i < a.inputs; ++i)
            in += int64_t{a.weight[at * a.inputs + i]} * a.x[row * a.inputs + i];
          for (int64_t j = 0; j < a.units; ++j) st += a.recurrent[at * a.units + j] * h[j];
          g.input.push_back(in * a.multiplier[at]);
          g.state.push_back(st * a.recurrent_multiplier[state_at]);
          g.shift.push_back(a.shift[at]);
        }
        std::vector<int64_t> fresh;
        for (int64_t j = 0; j < a.units; ++j) fresh.push_back(next(j, g, d, n));
        h = fresh;
        for (int64_t j = 0; j < a.units && a.sequence; ++j)
          a.y[(row * a.directions + d) * a.units + j] = static_cast<Step>(h[j]);
      }
      for (int64_t j = 0; j < a.units; ++j)
        a.h_n[(d * a.batch + n) * a.units + j] = static_cast<Step>(h[j]);
    }
}

// clamp(zero + requantize(v), low, -low - 1)
inline int64_t result_reference(int64_t v, int64_t zero, int64_t multiplier, int64_t shift,
                                int64_t low = -128) {
  return saturate_reference(
      requantize_reference(v, static_cast<int32_t>(multiplier), static_cast<int32_t>(shift)) + zero,
      low, -low - 1);
}

}  // namespace deuteron
