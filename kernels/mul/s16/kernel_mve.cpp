// SPDX-License-Identifier: Apache-2.0
// int16 multiplication with the M-profile Vector Extension: four elements at a time.
#include <arm_mve.h>

#include "kernels/mul/s16/kernel.h"

namespace deuteron {

void mul_s16_mve(const MulS16Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const MulS16Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int32x4_t low = vdupq_n_s32(a.y_min), high = vdupq_n_s32(a.y_max),
                  by = vdupq_n_s32(-a.shift);
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; i += 4) {
      const mve_pred16_t here = vctp32q(static_cast<uint32_t>(a.period - i));
      const int32x4_t product =
          vmulq_s32(vldrhq_z_s32(x + done + i, here), vldrhq_z_s32(other + i, here));
      const int32x4_t v = vrshlq_s32(vqrdmulhq_n_s32(product, a.multiplier), by);
      vstrhq_p_s32(y + done + i, vminq_s32(vmaxq_s32(v, low), high), here);
    }
}

}  // namespace deuteron
