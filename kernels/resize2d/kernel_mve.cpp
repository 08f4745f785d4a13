// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing with the M-profile Vector Extension: 4 channels of an output pixel at a time.
#include <arm_mve.h>

#include "kernels/resize2d/kernel.h"
#include "kernels/resize2d/pixels.h"

namespace deuteron {

void resize2d_s8_mve(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                     const int32_t* columns, int8_t* y) {
  each_pixel(a, x, rows, columns, y,
             [&a](const int8_t* top, const int8_t* bottom, int32_t to_right, const PixelWeights& w,
                  int8_t* to) {
               for (int32_t c = 0; c < a.channels; c += 4) {
                 const mve_pred16_t here = vctp32q(static_cast<uint32_t>(a.channels - c));
                 int32x4_t sum = vmulq_n_s32(vldrbq_z_s32(top + c, here), w.top_left);
                 sum = vmlaq_n_s32(sum, vldrbq_z_s32(top + c + to_right, here), w.top_right);
                 sum = vmlaq_n_s32(sum, vldrbq_z_s32(bottom + c, here), w.left);
                 sum = vmlaq_n_s32(sum, vldrbq_z_s32(bottom + c + to_right, here), w.right);
                 sum = vaddq_s32(sum, vshrq_n_s32(sum, 31));  // halves of negative sums go down
                 vstrbq_p_s32(to + c, vrshrq_n_s32(sum, 2 * kResizeBits), here);
               }
             });
}

}  // namespace deuteron
