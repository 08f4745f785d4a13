// Portable addition.
#include "ops/add/kernel.h"

#include "ops/dot_s8.h"

namespace deuteron {

void add_s8(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  constexpr int32_t kLeft = 1 << 20;
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      const int32_t u = requantize((x[done + i] - a.x.zero) * kLeft, a.x.multiplier, a.x.shift);
      const int32_t v = requantize((other[i] - a.other.zero) * kLeft, a.other.multiplier, a.other.shift);
      const uint32_t sum = static_cast<uint32_t>(u) + static_cast<uint32_t>(v);
      y[done + i] = requantize_to_s8(sum, a.y.multiplier, a.y.shift, a.y.zero, a.y_min, a.y_max);
    }
}

}  // namespace deuteron
