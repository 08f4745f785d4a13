// int16 addition with the M-profile Vector Extension: four elements at a time.
#include <arm_mve.h>

#include "ops/add_s16/kernel.h"

namespace deuteron {

void add_s16_mve(const AddS16Args& a, const int16_t* x, const int16_t* other, int16_t* y) {
  const int32x4_t low = vdupq_n_s32(a.y_min), high = vdupq_n_s32(a.y_max), by = vdupq_n_s32(-a.shift);
  for (int32_t i = 0; i < a.count; i += 4) {
    const mve_pred16_t here = vctp32q(static_cast<uint32_t>(a.count - i));
    int32x4_t sum = vmulq_n_s32(vldrhq_z_s32(x + i, here), a.x_factor);
    sum = vrshlq_s32(vmlaq_n_s32(sum, vldrhq_z_s32(other + i, here), a.other_factor), by);  // halves up
    vstrhq_p_s32(y + i, vminq_s32(vmaxq_s32(sum, low), high), here);
  }
}

}  // namespace deuteron
