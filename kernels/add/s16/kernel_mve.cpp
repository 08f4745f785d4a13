// SPDX-License-Identifier: Apache-2.0
// int16 addition with the M-profile Vector Extension: four elements at a time.
#include <arm_mve.h>

#include "kernels/add/s16/kernel.h"

namespace deuteron {

void add_s16_mve(const AddS16Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const AddS16Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int32x4_t low = vdupq_n_s32(a.y_min), high = vdupq_n_s32(a.y_max),
                  by = vdupq_n_s32(-a.shift);
  const auto sum = [&](int32x4_t one, int32x4_t more) {
    const int32x4_t v = vrshlq_s32(vmlaq_n_s32(vmulq_n_s32(one, a.x_factor), more, a.other_factor),
                                   by);  // halves up
    return vminq_s32(vmaxq_s32(v, low), high);
  };
  for (int32_t i = a.count / 4; i > 0; --i, x += 4, other += 4, y += 4)
    vstrhq_s32(y, sum(vldrhq_s32(x), vldrhq_s32(other)));
  if (const int32_t rest = a.count % 4; rest > 0) {
    const mve_pred16_t here = vctp32q(static_cast<uint32_t>(rest));
    vstrhq_p_s32(y, sum(vldrhq_z_s32(x, here), vldrhq_z_s32(other, here)), here);
  }
}

}  // namespace deuteron
