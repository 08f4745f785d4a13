// SPDX-License-Identifier: Apache-2.0
// Multiplication with the M-profile Vector Extension, eight elements at a time.
#include <arm_mve.h>

#include "kernels/mul/kernel.h"

namespace deuteron {

void mul_s8_mve(const MulArgs& args, const int8_t* x, const int8_t* other, int8_t* y) {
  const MulArgs a = args;  // for all the compiler knows, y might lie over the arguments
  // -1 of what is negative, or with a shift of 0 nothing: 32 to the left
  const int32x4_t sign = vdupq_n_s32(a.shift < 0 ? -31 : 32);
  const auto scaled = [&](int32x4_t v) {  // requantize_mve()
    v = vqrdmulhq_n_s32(v, a.multiplier);
    return vrshlq_n_s32(vqaddq_s32(v, vshlq_s32(v, sign)), a.shift);
  };
  const auto product = [&](int16x8_t u, int16x8_t v) {
    u = vsubq_n_s16(u, static_cast<int16_t>(a.x_zero));
    v = vsubq_n_s16(v, static_cast<int16_t>(a.other_zero));
    const int32x4_t even = scaled(vmullbq_int_s16(u, v)), odd = scaled(vmulltq_int_s16(u, v));
    u = vqaddq_n_s16(vqmovntq_s32(vqmovnbq_s32(u, even), odd), static_cast<int16_t>(a.y_zero));
    return vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(u), u));
  };
  for (int32_t done = 0; done < a.count; done += a.period) {
    const int8_t* from = other;
    for (int32_t i = a.period / 8; i > 0; --i, x += 8, from += 8, y += 8)
      vstrbq_s16(y, product(vldrbq_s16(x), vldrbq_s16(from)));
    const int32_t rest = a.period % 8;
    if (rest == 0) continue;
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(rest));
    vstrbq_p_s16(y, product(vldrbq_z_s16(x, here), vldrbq_z_s16(from, here)), here);
    x += rest, y += rest;
  }
}

}  // namespace deuteron
