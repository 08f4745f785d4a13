// SPDX-License-Identifier: Apache-2.0
// Multiplication with the M-profile Vector Extension, four elements at a time.
#include "kernels/integer/requantize_mve.h"
#include "kernels/mul/kernel.h"

namespace deuteron {

void mul_s8_mve(const MulArgs& args, const int8_t* x, const int8_t* other, int8_t* y) {
  const MulArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const int32x4_t multiplier = vdupq_n_s32(a.multiplier), shift = vdupq_n_s32(a.shift),
                  low = vdupq_n_s32(-128), high = vdupq_n_s32(127);
  const auto product = [&](int32x4_t u, int32x4_t v) {
    const int32x4_t p = vmulq_s32(vsubq_n_s32(u, a.x_zero), vsubq_n_s32(v, a.other_zero));
    return vminq_s32(vmaxq_s32(vaddq_n_s32(requantize_mve(p, multiplier, shift), a.y_zero), low),
                     high);
  };
  for (int32_t done = 0; done < a.count; done += a.period) {
    const int8_t* from = other;
    for (int32_t i = a.period / 4; i > 0; --i, x += 4, from += 4, y += 4)
      vstrbq_s32(y, product(vldrbq_s32(x), vldrbq_s32(from)));
    const int32_t rest = a.period % 4;
    if (rest == 0) continue;
    const mve_pred16_t here = vctp32q(static_cast<uint32_t>(rest));
    vstrbq_p_s32(y, product(vldrbq_z_s32(x, here), vldrbq_z_s32(from, here)), here);
    x += rest, y += rest;
  }
}

}  // namespace deuteron
