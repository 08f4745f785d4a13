// SPDX-License-Identifier: Apache-2.0
// Table lookup with the M-profile Vector Extension: 16 entries are gathered at once.
#include <arm_mve.h>

#include "kernels/unary/kernel.h"

namespace deuteron {

void lookup_s8_mve(int32_t count, const int8_t* table, const int8_t* x, int8_t* y) {
  const uint8x16_t to_index = vdupq_n_u8(128);
  for (; count >= 16; count -= 16, x += 16, y += 16)
    vst1q_s8(y,
             vldrbq_gather_offset_s8(table, veorq_u8(vreinterpretq_u8_s8(vld1q_s8(x)), to_index)));
  if (count == 0) return;
  const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count));
  const uint8x16_t index = veorq_u8(vreinterpretq_u8_s8(vld1q_z_s8(x, here)), to_index);
  vst1q_p_s8(y, vldrbq_gather_offset_z_s8(table, index, here), here);
}

}  // namespace deuteron
