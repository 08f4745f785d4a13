// Quantization with the M-profile Vector Extension: VCVTN rounds to nearest, ties to even, saturates, and makes 0 of a NaN, which is what
// kernel.h asks for; rounding before the bounds are applied changes nothing, since they are whole numbers.
#include "ops/quantize/kernel.h"

#include <arm_mve.h>

namespace deuteron {

void quantize_s8_mve(const QuantizeArgs& args, const float* x, int8_t* y) {
  const QuantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const int32x4_t low = vdupq_n_s32(a.low), high = vdupq_n_s32(a.high);
  const auto steps = [&](float32x4_t v) {
    const int32x4_t rounded = vqaddq_n_s32(vcvtnq_s32_f32(vmulq_n_f32(v, a.reciprocal)), a.zero);
    return vminq_s32(vmaxq_s32(rounded, low), high);
  };
  for (int32_t i = a.count / 4; i > 0; --i, x += 4, y += 4) vstrbq_s32(y, steps(vld1q_f32(x)));
  if (a.count % 4 == 0) return;
  const mve_pred16_t rest = vctp32q(static_cast<uint32_t>(a.count % 4));
  vstrbq_p_s32(y, steps(vld1q_z_f32(x, rest)), rest);
}

}  // namespace deuteron
