// SPDX-License-Identifier: Apache-2.0
#include "kernels/requantize/16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

template <class X, class Y>
void rescale(const Rescale16x8Args& args, const X* x, Y* y) {
  const Rescale16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t v = x[i] - a.x_zero, multiplier = v < 0 ? a.below_multiplier : a.multiplier,
                  shift = v < 0 ? a.below_shift : a.shift;
    const int32_t scaled = multiplier < 0 ? subtract_wrapping(0, requantize(v, -multiplier, shift))
                                          : requantize(v, multiplier, shift);
    y[i] = static_cast<Y>(clamp_to(add_wrapping(scaled, a.y_zero), a.y_min, a.y_max));
  }
}

}  // namespace

void rescale_16x8(const Rescale16x8Args& a, const int16_t* x, int16_t* y) { rescale(a, x, y); }
void rescale_s8_to_16x8(const Rescale16x8Args& a, const int8_t* x, int16_t* y) { rescale(a, x, y); }
void rescale_16x8_to_s8(const Rescale16x8Args& a, const int16_t* x, int8_t* y) { rescale(a, x, y); }

}  // namespace deuteron
