// SPDX-License-Identifier: Apache-2.0
// Padding with the M-profile Vector Extension: runs are short, and a predicate ends them without a
// call or a loop over bytes.
#include <arm_mve.h>

#include "kernels/pad/walk.h"

namespace deuteron {

void pad_s8_mve(const PadArgs& a, const int8_t* x, int8_t* y) {
  const int8x16_t value = vdupq_n_s8(a.value);
  walk_padding(
      a, x, y,
      [&](int8_t* to, int32_t count) {
        for (; count >= 16; count -= 16, to += 16) vst1q_s8(to, value);
        if (count > 0) vst1q_p_s8(to, value, vctp8q(static_cast<uint32_t>(count)));
      },
      [](int8_t* to, const int8_t* from, int32_t count) {
        for (; count >= 16; count -= 16, to += 16, from += 16) vst1q_s8(to, vld1q_s8(from));
        if (count == 0) return;
        const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count));
        vst1q_p_s8(to, vld1q_z_s8(from, here), here);
      });
}

}  // namespace deuteron
