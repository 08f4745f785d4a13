// SPDX-License-Identifier: Apache-2.0
// Portable SVDF.
#include "kernels/svdf/kernel.h"

#include <cstdint>
#include <limits>

#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

template <class State>
State feature(const SvdfArgs& a, const int8_t* x, const int8_t* weight) {
  using Range = std::numeric_limits<State>;
  int32_t sum = 0;
  for (int32_t i = 0; i < a.inputs; ++i) sum += (x[i] - a.x_zero) * weight[i];
  return static_cast<State>(
      clamp_to(requantize(sum, a.feature_multiplier, a.feature_shift), Range::min(), Range::max()) +
      a.state_zero);
}

int32_t saturated(int64_t v) {
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<int32_t>(v);
}

template <class State>
void run(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight, const State* time_weight,
         const int32_t* bias, const State* state, int8_t* y, State* new_state) {
  const int32_t rank = a.filters / a.units, last = a.memory - 1;
  for (int32_t n = 0; n < a.batch; ++n, x += a.inputs, y += a.units) {
    const int8_t* features = feature_weight;
    const State* times = time_weight;
    for (int32_t u = 0; u < a.units; ++u) {
      int64_t sum = bias ? bias[u] : 0;
      for (int32_t r = 0; r < rank;
           ++r, features += a.inputs, times += a.memory, state += a.memory, new_state += a.memory) {
        for (int32_t m = 0; m < last; ++m) new_state[m] = state[m + 1];
        new_state[last] = feature<State>(a, x, features);
        for (int32_t m = 0; m < a.memory; ++m) sum += (new_state[m] - a.state_zero) * times[m];
      }
      y[u] = requantize_to_s8(static_cast<uint32_t>(saturated(sum)), a.y_multiplier, a.y_shift,
                              a.y_zero, -128, 127);
    }
  }
}

}  // namespace

void svdf_s8(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight,
             const int16_t* time_weight, const int32_t* bias, const int16_t* state, int8_t* y,
             int16_t* new_state) {
  run(a, x, feature_weight, time_weight, bias, state, y, new_state);
}
void svdf_bytes(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight,
                const int8_t* time_weight, const int32_t* bias, const int8_t* state, int8_t* y,
                int8_t* new_state) {
  run(a, x, feature_weight, time_weight, bias, state, y, new_state);
}

}  // namespace deuteron
