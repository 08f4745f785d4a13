// SPDX-License-Identifier: Apache-2.0
#include "kernels/requantize/s32/kernel.h"

#include <limits>

#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

template <class X, class Y>
void rescale(const RescaleS32Args& args, const X* x, Y* y) {
  using Range = std::numeric_limits<Y>;
  const RescaleS32Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t scaled = requantize(x[i] - a.x_zero, a.multiplier, a.shift);
    y[i] = static_cast<Y>(clamp_to(add_wrapping(scaled, a.y_zero), Range::min(), Range::max()));
  }
}

}  // namespace

void rescale_s8_to_s32(const RescaleS32Args& a, const int8_t* x, int32_t* y) { rescale(a, x, y); }
void rescale_s16_to_s32(const RescaleS32Args& a, const int16_t* x, int32_t* y) { rescale(a, x, y); }
void rescale_s32_to_s8(const RescaleS32Args& a, const int32_t* x, int8_t* y) { rescale(a, x, y); }
void rescale_s32_to_s16(const RescaleS32Args& a, const int32_t* x, int16_t* y) { rescale(a, x, y); }

}  // namespace deuteron
