// SPDX-License-Identifier: Apache-2.0
// Portable int16 softmax: each exponential is computed twice, for the sum and for its result.
#include "kernels/softmax/s16/kernel.h"

#include "kernels/softmax/exponential.h"

namespace deuteron {

static uint32_t exponential_s16(const SoftmaxArgs& a, int32_t d) {
  if (d < a.diff_min) return 0;
  return static_cast<uint32_t>(q31::exp_of_negative(
      multiply_high(static_cast<int32_t>(static_cast<uint32_t>(d) << a.shift), a.multiplier)));
}

void softmax_s16(const SoftmaxArgs& args, const int16_t* x, int16_t* y) {
  const SoftmaxArgs a = args;  // for all the compiler knows, y might lie over the arguments
  constexpr uint64_t kOne = uint64_t{1} << 61;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int32_t most = x[0];
    for (int32_t i = 1; i < a.columns; ++i) most = x[i] > most ? x[i] : most;
    uint64_t sum = 0;
    for (int32_t i = 0; i < a.columns; ++i) sum += exponential_s16(a, x[i] - most);
    int32_t k = 0;
    while (sum >> k >= uint64_t{1} << 31) ++k;
    const uint64_t divisor = sum >> k, reciprocal = (kOne + divisor / 2) / divisor,
                   half = uint64_t{1} << (45 + k);
    for (int32_t i = 0; i < a.columns; ++i) {
      const uint64_t v = (exponential_s16(a, x[i] - most) * reciprocal + half) >> (46 + k);
      y[i] = static_cast<int16_t>(v < 32767 ? v : 32767);
    }
  }
}

}  // namespace deuteron
