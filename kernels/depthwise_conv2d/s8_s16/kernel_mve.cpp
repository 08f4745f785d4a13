// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of int8 with int16 results for the M-profile Vector Extension: eight
// channels at all places, then the next eight.
#include "kernels/depthwise_conv2d/s16/channels_mve.h"
#include "kernels/depthwise_conv2d/s16/pixels.h"
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"

namespace deuteron {

void depthwise_conv2d_s8_s16_mve(const DepthwiseS8S16Args& args, const int8_t* x,
                                 const int16_t* weight, const int32_t* first,
                                 const int32_t* multiplier, int16_t* y) {
  const DepthwiseS8S16Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int32_t channels = a.layer.channels;
  const auto zero = static_cast<int16_t>(a.x_zero);
  const int32x4_t low = vdupq_n_s32(a.layer.y_min), high = vdupq_n_s32(a.layer.y_max);
  for (int32_t c = 0; c < channels; c += kS16Channels) {
    const Channels of = channels_of(first + c, multiplier + c, channels - c);
    each_place(a.layer, x + c, weight + c, y + c,
               [&](const DepthwisePlaceOf<int8_t>& p, int16_t* to) {
                 Sums s{of.first[0], of.first[1]};
                 const int8_t* row = p.x;
                 const int16_t* taps = p.weight;
                 for (int32_t h = p.rows; h > 0; --h, row += p.x_row, taps += p.weight_row) {
                   const int8_t* from = row;
                   const int16_t* w = taps;
                   for (int32_t k = p.columns; k > 0; --k, from += p.x_column, w += channels)
                     s.add(vsubq_n_s16(vldrbq_z_s16(from, of.here), zero), vld1q_z_s16(w, of.here));
                 }
                 vst1q_p_s16(to, finish(low, high, of, s), of.here);
               });
  }
}

}  // namespace deuteron
