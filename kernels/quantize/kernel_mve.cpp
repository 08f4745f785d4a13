// SPDX-License-Identifier: Apache-2.0
// Quantization with the M-profile Vector Extension: a fused multiply-add brings the product to
// where float32 has steps of one, and so rounds it to nearest, ties to even. Beyond that range the
// sum is large all the same. VCVTN saturates, and makes 0 of a NaN, which is what kernel.h asks
// for; rounding before the bounds are applied changes nothing, since they are whole numbers.
#include "kernels/quantize/kernel.h"

#include <arm_mve.h>

namespace deuteron {

void quantize_s8_mve_blocks(const QuantizeArgs& args, const float* x, int8_t* y) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
  const QuantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  const int32x4_t low = vdupq_n_s32(a.low), high = vdupq_n_s32(a.high);
  const float32x4_t reciprocal = vdupq_n_f32(a.reciprocal);
  for (int32_t i = a.count / kQuantizeBlock * (kQuantizeBlock / 4); i > 0; --i, x += 4, y += 4) {
    const float32x4_t whole =
        vsubq_n_f32(vfmasq_n_f32(vld1q_f32(x), reciprocal, kRounder), kRounder);
    const int32x4_t steps = vqaddq_n_s32(vcvtnq_s32_f32(whole), a.zero);
    vstrbq_s32(y, vminq_s32(vmaxq_s32(steps, low), high));
  }
}

void quantize_s8_mve(const QuantizeArgs& args, const float* x, int8_t* y) {
  quantize_s8_mve_blocks(args, x, y);
  QuantizeArgs a = args;
  a.count %= kQuantizeBlock;
  const int32_t whole = args.count - a.count;
  quantize_s8(a, x + whole, y + whole);
}

// The product is rounded by itself, as the portable kernel's is; VCVTN rounds ties to even.
void quantize_s16_mve(const QuantizeArgs& args, const float* x, int16_t* y) {
  QuantizeArgs a = args;
  const int32x4_t low = vdupq_n_s32(a.low), high = vdupq_n_s32(a.high);
  for (int32_t i = a.count / 4; i > 0; --i, x += 4, y += 4) {
    const int32x4_t steps =
        vqaddq_n_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), a.reciprocal)), a.zero);
    vstrhq_s32(y, vminq_s32(vmaxq_s32(steps, low), high));
  }
  a.count %= 4;
  quantize_s16(a, x, y);
}

}  // namespace deuteron
