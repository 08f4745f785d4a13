// SPDX-License-Identifier: Apache-2.0
// The step of kernel.h, each unit from its beginning. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/integer/requantize_reference.h"
#include "kernels/svdf/kernel.h"

namespace deuteron {

template <class State>  // int16_t or int8_t
void svdf_reference(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight,
                    const State* time_weight, const int32_t* bias, const State* state, int8_t* y,
                    State* new_state) {
  const int64_t rank = a.filters / a.units, most = sizeof(State) == 1 ? 127 : 32767;
  for (int64_t n = 0; n < a.batch; ++n)
    for (int64_t f = 0; f < a.filters; ++f)
      for (int64_t m = 0; m < a.memory; ++m) {
        const int64_t at = (n * a.filters + f) * a.memory + m;
        int64_t sum = 0;
        for (int64_t i = 0; i < a.inputs; ++i)
          sum += int64_t{x[n * a.inputs + i] - a.x_zero} * feature_weight[f * a.inputs + i];
        const int64_t newest = std::clamp<int64_t>(
            requantize_reference(sum, a.feature_multiplier, a.feature_shift), -most - 1, most);
        new_state[at] =
            m + 1 < a.memory ? state[at + 1] : static_cast<State>(newest + a.state_zero);
      }
  for (int64_t n = 0; n < a.batch; ++n)
    for (int64_t u = 0; u < a.units; ++u) {
      int64_t sum = bias ? bias[u] : 0;
      for (int64_t k = u * rank * a.memory; k < (u + 1) * rank * a.memory; ++k)
        sum += (int64_t{new_state[n * a.filters * a.memory + k]} - a.state_zero) * time_weight[k];
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      const int64_t v = a.y_zero + requantize_reference(sum, a.y_multiplier, a.y_shift);
      y[n * a.units + u] = static_cast<int8_t>(std::clamp<int64_t>(v, -128, 127));
    }
}

}  // namespace deuteron
