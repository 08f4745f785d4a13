// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

static int16_t line(const int16_t* table, int32_t v) {
  const int16_t* entry = table + 256 + (v >> 7);
  return static_cast<int16_t>(entry[0] + (((entry[1] - entry[0]) * (v & 127) + 64) >> 7));
}

void softmax_16x8(const Softmax16x8Args& args, const int16_t* x, const int16_t* exp_table,
                  const int16_t* reciprocal_table, int16_t* y) {
  const Softmax16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int32_t most = x[0];
    for (int32_t i = 1; i < a.columns; ++i) most = x[i] > most ? x[i] : most;
    int32_t sum = 0;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int32_t scaled = add_wrapping(requantize(x[i] - most, a.multiplier, a.shift), 32767);
      y[i] = line(exp_table, clamp_to(scaled, -32768, 32767));
      sum += y[i];
    }
    if (sum < 2) sum = 2;
    const int32_t zeros = __builtin_clz(static_cast<uint32_t>(sum));
    const auto shifted =
        static_cast<int32_t>(((static_cast<int64_t>(sum) << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t reciprocal =
        line(reciprocal_table, clamp_to(shifted - 3 * (1 << 15), -32768, 32767));
    const int32_t right = 31 - zeros, half = 1 << (right - 1);
    for (int32_t i = 0; i < a.columns; ++i)
      y[i] = static_cast<int16_t>(clamp_to((y[i] * reciprocal + half) >> right, 0, 32767));
  }
}

}  // namespace deuteron
