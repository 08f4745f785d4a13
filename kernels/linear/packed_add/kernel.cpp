// SPDX-License-Identifier: Apache-2.0
// Portable addition in one step.
#include "kernels/linear/packed_add/kernel.h"

#include "kernels/common/host_clones.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

template <int32_t right>
[[gnu::always_inline]] static inline void add_steps(const LinearAddArgs& a, const int8_t* x,
                                                    const int8_t* other, int8_t* y) {
  // Copies: a store to y might change them in a, for all that a compiler knows.
  const uint32_t x_factor = static_cast<uint32_t>(a.x_factor),
                 other_factor = static_cast<uint32_t>(a.other_factor);
  const uint32_t first = static_cast<uint32_t>(a.first);
  for (int32_t done = 0, period = a.period, count = a.count; done < count;
       done += period, x += period, y += period)
    for (int32_t i = 0; i < period; ++i) {
      const uint32_t sum = static_cast<uint32_t>(x[i]) * x_factor +
                           static_cast<uint32_t>(other[i]) * other_factor + first;
      y[i] = static_cast<int8_t>(clamp_to(static_cast<int32_t>(sum) >> right, -128, 127));
    }
}

DEUTERON_HOST_CLONES void linear_add_s8(const LinearAddArgs& a, const int8_t* x,
                                        const int8_t* other, int8_t* y) {
  add_steps<kLinearAddRight>(a, x, other, y);
}

DEUTERON_HOST_CLONES void linear_add_q21_s8(const LinearAddArgs& a, const int8_t* x,
                                            const int8_t* other, int8_t* y) {
  add_steps<kLinearAddQ21Right>(a, x, other, y);
}

}  // namespace deuteron
