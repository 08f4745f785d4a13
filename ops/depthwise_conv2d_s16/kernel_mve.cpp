// int16 depthwise convolution with the M-profile Vector Extension: eight channels at a time, those with even and with odd places apart.
#include <arm_mve.h>

#include "ops/depthwise_conv2d_s16/kernel.h"
#include "ops/depthwise_conv2d_s16/pixels.h"

namespace deuteron {

void depthwise_conv2d_s16_mve(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight, const int32_t* first,
                              const int32_t* multiplier, int16_t* y) {
  const int32x4_t low = vdupq_n_s32(a.y_min), high = vdupq_n_s32(a.y_max);
  const int32_t channels = a.channels;
  const uint32x4_t even = vmulq_n_u32(vidupq_n_u32(0, 1), 8), odd = vaddq_n_u32(even, 4);  // bytes
  each_place(a, x, weight, y, [&](const DepthwisePlace& p, int16_t* to) {
    for (int32_t c = 0; c < channels; c += 8) {
      const auto left = static_cast<uint32_t>(channels - c);
      const mve_pred16_t here = vctp16q(left);
      // Lane i of the halves is channel 2i, and 2i + 1.
      const mve_pred16_t of_even = vctp32q((left + 1) / 2), of_odd = vctp32q(left / 2);
      int32x4_t s0 = vldrwq_gather_offset_z_s32(first + c, even, of_even), s1 = vldrwq_gather_offset_z_s32(first + c, odd, of_odd);
      const int16_t *row = p.x + c, *taps = p.weight + c;
      for (int32_t h = p.rows; h > 0; --h, row += p.x_row, taps += p.weight_row) {
        const int16_t *from = row, *w = taps;
        for (int32_t k = p.columns; k > 0; --k, from += p.x_column, w += channels) {
          const int16x8_t xs = vld1q_z_s16(from, here), ws = vld1q_z_s16(w, here);
          s0 = vaddq_s32(s0, vmullbq_int_s16(xs, ws));
          s1 = vaddq_s32(s1, vmulltq_int_s16(xs, ws));
        }
      }
      s0 = vqrdmulhq_s32(s0, vldrwq_gather_offset_z_s32(multiplier + c, even, of_even));
      s1 = vqrdmulhq_s32(s1, vldrwq_gather_offset_z_s32(multiplier + c, odd, of_odd));
      s0 = vminq_s32(vmaxq_s32(s0, low), high), s1 = vminq_s32(vmaxq_s32(s1, low), high);
      vst1q_p_s16(to + c, vmovntq_s32(vreinterpretq_s16_s32(s0), s1), here);
    }
  });
}

}  // namespace deuteron
