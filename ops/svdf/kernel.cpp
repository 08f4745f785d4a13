// Portable SVDF.
#include "ops/svdf/kernel.h"

#include "ops/integer/requantize.h"

namespace deuteron {

static int16_t feature(const SvdfArgs& a, const int8_t* x, const int8_t* weight) {
  int32_t sum = 0;
  for (int32_t i = 0; i < a.inputs; ++i) sum += (x[i] - a.x_zero) * weight[i];
  return static_cast<int16_t>(clamp_to(requantize(sum, a.feature_multiplier, a.feature_shift), INT16_MIN, INT16_MAX));
}

void svdf_s8(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight, const int16_t* time_weight, const int32_t* bias,
             const int16_t* state, int8_t* y, int16_t* new_state) {
  const int32_t rank = a.filters / a.units, last = a.memory - 1;
  for (int32_t n = 0; n < a.batch; ++n, x += a.inputs, y += a.units) {
    const int8_t* features = feature_weight;
    const int16_t* times = time_weight;
    for (int32_t u = 0; u < a.units; ++u) {
      uint32_t sum = bias ? static_cast<uint32_t>(bias[u]) : 0;
      for (int32_t r = 0; r < rank; ++r, features += a.inputs, times += a.memory, state += a.memory, new_state += a.memory) {
        for (int32_t m = 0; m < last; ++m) new_state[m] = state[m + 1];
        new_state[last] = feature(a, x, features);
        for (int32_t m = 0; m < a.memory; ++m) sum += static_cast<uint32_t>(new_state[m] * times[m]);
      }
      y[u] = requantize_to_s8(sum, a.y_multiplier, a.y_shift, a.y_zero, -128, 127);
    }
  }
}

}  // namespace deuteron
