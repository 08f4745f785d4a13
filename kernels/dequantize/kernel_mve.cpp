// SPDX-License-Identifier: Apache-2.0
// Dequantization with the M-profile Vector Extension.
#include "kernels/dequantize/kernel.h"

#include <arm_mve.h>

namespace deuteron {

void dequantize_s8_mve(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const auto value = [&](int32x4_t v) {
    return vmulq_n_f32(vcvtq_f32_s32(vsubq_n_s32(v, a.zero)), a.scale);
  };
  for (int32_t i = a.count / 4; i > 0; --i, x += 4, y += 4) vst1q_f32(y, value(vldrbq_s32(x)));
  if (a.count % 4 == 0) return;
  const mve_pred16_t rest = vctp32q(static_cast<uint32_t>(a.count % 4));
  vst1q_p_f32(y, value(vldrbq_z_s32(x, rest)), rest);
}

}  // namespace deuteron
