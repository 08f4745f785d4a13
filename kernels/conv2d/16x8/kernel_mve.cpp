// SPDX-License-Identifier: Apache-2.0
// Convolution of int16 by int8 with the M-profile Vector Extension: two filters at a time, eight
// products in an instruction; depthwise ones eight channels at a time.
#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/conv2d/16x8/windows.h"
#include "kernels/depthwise_conv2d/s16/channels_mve.h"
#include "kernels/integer/products_16x8_mve.h"

namespace deuteron {
namespace {

// The sums of eight channels, with one filter each. All sums fit 32 bits: is_depthwise_16x8().
void eight_channels(const Conv2d16x8Args& a, const Window16x8& window, const int16_t* x,
                    const int8_t* taps, int32_t (&sums)[kS16Channels]) {
  const int32_t x_row = a.dilation_h * a.in_w * a.in_c, x_step = a.dilation_w * a.in_c,
                filter = a.kernel_h * a.kernel_w;
  const uint16x8_t filters = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(filter));
  Sums s{vdupq_n_s32(0), vdupq_n_s32(0)};
  for (int32_t r = window.rows; r > 0; --r, x += x_row, taps += a.kernel_w) {
    const int16_t* from = x;
    const int8_t* by = taps;
    for (int32_t k = window.columns; k > 0; --k, from += x_step, ++by)
      s.add(vldrhq_s16(from), vldrbq_gather_offset_s16(by, filters));
  }
  const uint32x4_t pairs = vmulq_n_u32(vidupq_n_u32(0, 1), 2);
  vstrwq_scatter_shifted_offset_s32(sums, pairs, s.even);
  vstrwq_scatter_shifted_offset_s32(sums + 1, pairs, s.odd);
}

template <class Finish>
void run(const Conv2d16x8Args& args, const int16_t* x, const int8_t* weight, int16_t* y,
         Finish finish) {
  const Conv2d16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  const bool depthwise = is_depthwise_16x8(a);
  const int32_t filter = a.kernel_h * a.kernel_w,
                eights = a.out_c == a.in_c ? a.in_c / kS16Channels * kS16Channels : 0;
  each_window_16x8(a, x, y, [&](const Window16x8& w, int16_t* to) {
    if (!depthwise) return filters_16x8<Products16x8Mve>(a, w, weight, to, finish);
    for (int32_t c = 0; c < eights; c += kS16Channels) {
      int32_t sums[kS16Channels];
      eight_channels(a, w, w.x + c, weight + w.weight + c * filter, sums);
      for (int32_t k = 0; k < kS16Channels; ++k)
        to[c + k] = static_cast<int16_t>(clamp_to(finish(c + k, sums[k]), a.y_min, a.y_max));
    }
    channels_16x8(a, w, weight, eights, to, finish);
  });
}

}  // namespace

void conv2d_16x8_mve(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                     int16_t* y) {
  run(a, x, weight, y, Wide16x8{first, multiplier, shift});
}

void conv2d_16x8_narrow_mve(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                            int16_t* y) {
  run(a, x, weight, y, Narrow16x8{first, multiplier, shift});
}

}  // namespace deuteron
