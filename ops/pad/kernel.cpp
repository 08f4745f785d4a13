// Portable padding: what lies between two rows of the input is one run of the constant.
#include "ops/pad/kernel.h"

#include <cstddef>
#include <cstring>

namespace deuteron {

void pad_s8(const PadArgs& a, const int8_t* x, int8_t* y) {
  // Elements of y for one step of each dimension.
  int32_t step[4] = {0, 0, 0, 1};
  for (int k = 2; k >= 0; --k) step[k] = step[k + 1] * (a.before[k + 1] + a.in[k + 1] + a.after[k + 1]);
  const auto fill = [&](int32_t count) {
    if (count > 0) std::memset(y, a.value, static_cast<size_t>(count));
    y += count;
  };
  fill(a.before[0] * step[0]);
  for (int32_t i0 = 0; i0 < a.in[0]; ++i0) {
    fill(a.before[1] * step[1]);
    for (int32_t i1 = 0; i1 < a.in[1]; ++i1) {
      fill(a.before[2] * step[2]);
      for (int32_t i2 = 0; i2 < a.in[2]; ++i2) {
        fill(a.before[3]);
        if (a.in[3] > 0) std::memcpy(y, x, static_cast<size_t>(a.in[3]));
        x += a.in[3];
        y += a.in[3];
        fill(a.after[3]);
      }
      fill(a.after[2] * step[2]);
    }
    fill(a.after[1] * step[1]);
  }
  fill(a.after[0] * step[0]);
}

}  // namespace deuteron
