// SPDX-License-Identifier: Apache-2.0
// Portable depthwise convolution: the sums of a block of output channels lie on the stack, and each
// tap adds to all of them.
#include "kernels/depthwise_conv2d/kernel.h"

#include "kernels/common/host_clones.h"

#include "kernels/dense/dot_s8.h"
#include "kernels/image/window.h"
#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/depthwise_conv2d/kernel_host.h"
#endif

namespace deuteron {
namespace {

// Where a window stands: its first element's row and column (possibly outside) and the taps inside.
struct WindowPlace {
  int32_t ih, iw;
  Taps h, w;
};

// sums[i] += (from[i] + offset) * w[i].
void add_tap(const int8_t* from, int16_t offset, const int8_t* w, int32_t count, uint32_t* sums) {
  for (int32_t i = 0; i < count; ++i) {
    const int16_t v = static_cast<int16_t>(from[i] + offset), f = w[i];
    sums[i] += static_cast<uint32_t>(v * f);
  }
}

// Three taps in one pass over the sums, which are loaded and stored once: half the instructions of
// a 3x3 kernel.
void add_three_taps(const int8_t* from, int32_t step, int16_t offset, const int8_t* w,
                    int32_t w_step, int32_t count, uint32_t* sums) {
  const int8_t *from1 = from + step, *from2 = from1 + step, *w1 = w + w_step, *w2 = w1 + w_step;
  for (int32_t i = 0; i < count; ++i) {
    const int16_t v0 = static_cast<int16_t>(from[i] + offset), f0 = w[i];
    const int16_t v1 = static_cast<int16_t>(from1[i] + offset), f1 = w1[i];
    const int16_t v2 = static_cast<int16_t>(from2[i] + offset), f2 = w2[i];
    sums[i] += static_cast<uint32_t>(v0 * f0 + v1 * f1 + v2 * f2);
  }
}

// sums[i] += sum over taps of (x at channel oc + i) * weight[.., oc + i]: one input channel for
// each output channel.
void add_own_channels(const DepthwiseConv2dArgs& a, const int8_t* image, const int8_t* weight,
                      const WindowPlace& at, int32_t oc, int32_t count, uint32_t* sums) {
  const int16_t offset = static_cast<int16_t>(a.x_offset);
  const int32_t step = a.dilation_w * a.in_c;
  if (at.w.first == at.w.end) return;
  for (int32_t kh = at.h.first; kh < at.h.end; ++kh) {
    const int8_t* from =
        image +
        ((at.ih + kh * a.dilation_h) * a.in_w + at.iw + at.w.first * a.dilation_w) * a.in_c + oc;
    const int8_t* w = weight + (kh * a.kernel_w + at.w.first) * a.out_c + oc;
    const int32_t taps = at.w.end - at.w.first;
    int32_t kw = 0;
    for (; kw + 3 <= taps; kw += 3)
      add_three_taps(from + kw * step, step, offset, w + kw * a.out_c, a.out_c, count, sums);
    for (; kw < taps; ++kw) add_tap(from + kw * step, offset, w + kw * a.out_c, count, sums);
  }
}

// The same where all of oc..oc+count-1 read input channel c.
void add_one_channel(const DepthwiseConv2dArgs& a, const int8_t* image, const int8_t* weight,
                     const WindowPlace& at, int32_t c, int32_t oc, int32_t count, uint32_t* sums) {
  for (int32_t kh = at.h.first; kh < at.h.end; ++kh)
    for (int32_t kw = at.w.first; kw < at.w.end; ++kw) {
      const int16_t v = static_cast<int16_t>(
          image[((at.ih + kh * a.dilation_h) * a.in_w + at.iw + kw * a.dilation_w) * a.in_c + c] +
          a.x_offset);
      const int8_t* w = weight + (kh * a.kernel_w + kw) * a.out_c + oc;
      for (int32_t i = 0; i < count; ++i) {
        const int16_t f = w[i];
        sums[i] += static_cast<uint32_t>(v * f);
      }
    }
}

void place_filters(const DepthwiseConv2dArgs& a, const int8_t* image, const int8_t* weight,
                   const int32_t* bias, const WindowPlace& at, int8_t* y) {
  uint32_t sums[kSums];
  // A run of output channels that one pass may take: all of them, or those of one input channel.
  const int32_t run = a.depth_multiplier == 1 ? a.out_c : a.depth_multiplier;
  for (int32_t begin = 0; begin < a.out_c; begin += run)
    for (int32_t done = 0; done < run; done += kSums) {
      const int32_t count = run - done < kSums ? run - done : kSums, oc = begin + done;
      for (int32_t i = 0; i < count; ++i) sums[i] = bias ? static_cast<uint32_t>(bias[oc + i]) : 0;
      if (a.depth_multiplier == 1) add_own_channels(a, image, weight, at, oc, count, sums);
      else add_one_channel(a, image, weight, at, begin / a.depth_multiplier, oc, count, sums);
      requantize_row_to_s8(sums, a.multiplier + oc, a.shift + oc, count, a.y_zero, a.y_min, a.y_max,
                           y + oc);
    }
}

}  // namespace

DEUTERON_HOST_CLONES void depthwise_conv2d_s8(const DepthwiseConv2dArgs& a, const int8_t* x,
                                              const int8_t* weight, const int32_t* bias,
                                              int8_t* y) {
#if defined(DEUTERON_HOST_KERNELS)
  const HostKernels<HostRowForm>& host = host_row_forms();
  if (host.count > 0 && depthwise_conv2d_s8_host(a, x, weight, bias, host.kernel[0], y)) return;
#endif
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      WindowPlace at;
      at.ih = oh * a.stride_h - a.pad_h;
      at.h = taps_inside(at.ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        at.iw = ow * a.stride_w - a.pad_w;
        at.w = taps_inside(at.iw, a.kernel_w, a.dilation_w, a.in_w);
        place_filters(a, x, weight, bias, at, y);
      }
    }
}

}  // namespace deuteron
