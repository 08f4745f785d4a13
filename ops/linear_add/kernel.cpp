// Portable addition in one step.
#include "ops/linear_add/kernel.h"

#include "ops/integer/requantize.h"

namespace deuteron {

void linear_add_s8(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  const auto product = [](int32_t v, int32_t factor) { return static_cast<uint32_t>(v) * static_cast<uint32_t>(factor); };
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      const uint32_t sum = product(*x++, a.x_factor) + product(other[i], a.other_factor) + static_cast<uint32_t>(a.first);
      *y++ = static_cast<int8_t>(clamp_to(static_cast<int32_t>(sum) >> kLinearAddRight, -128, 127));
    }
}

}  // namespace deuteron
