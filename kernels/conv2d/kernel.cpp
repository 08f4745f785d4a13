// SPDX-License-Identifier: Apache-2.0
// Portable convolution: the window under one output position is gathered once as a row of int16,
// then met by every filter.
#include "kernels/conv2d/kernel.h"

#include "kernels/common/host_clones.h"

#include <cstddef>
#include <cstring>

#include "kernels/dense/dot_s8.h"
#include "kernels/image/window.h"

namespace deuteron {
namespace {

// A part of a window: taps first_tap..end_tap-1 (tap = kh * kernel_w + kw) and channels
// first_c..end_c-1 of the group.
struct Part {
  int32_t first_tap, end_tap, first_c, end_c;
};

// Where a window stands: its first element's row and column (possibly outside), the taps inside,
// and its group's first channel.
struct Place {
  int32_t ih, iw, channel;
  Taps h, w;
};

void gather(const Conv2dArgs& a, const int8_t* image, const Place& at, const Part& part,
            int16_t* row) {
  const int32_t channels = part.end_c - part.first_c;
  for (int32_t kh = part.first_tap / a.kernel_w; kh * a.kernel_w < part.end_tap; ++kh) {
    const int32_t begin = kh * a.kernel_w;  // this row of taps, cut to the part
    const int32_t first = part.first_tap > begin ? part.first_tap - begin : 0;
    const int32_t end = part.end_tap < begin + a.kernel_w ? part.end_tap - begin : a.kernel_w;
    const bool inside = kh >= at.h.first && kh < at.h.end;
    const int32_t first_in = inside ? clamp_to(at.w.first, first, end) : end;
    const int32_t end_in = inside ? clamp_to(at.w.end, first_in, end) : end;
    std::memset(row, 0, sizeof(int16_t) * static_cast<size_t>((first_in - first) * channels));
    row += (first_in - first) * channels;
    if (first_in < end_in) {
      const int8_t* from =
          image +
          ((at.ih + kh * a.dilation_h) * a.in_w + at.iw + first_in * a.dilation_w) * a.in_c +
          at.channel + part.first_c;
      if (a.dilation_w == 1 && channels == a.in_c) {
        widen_s8(from, (end_in - first_in) * channels, a.x_offset, row);
        row += (end_in - first_in) * channels;
      } else {
        for (int32_t kw = first_in; kw < end_in; ++kw, row += channels)
          widen_s8(from + (kw - first_in) * a.dilation_w * a.in_c, channels, a.x_offset, row);
      }
    }
    std::memset(row, 0, sizeof(int16_t) * static_cast<size_t>((end - end_in) * channels));
    row += (end - end_in) * channels;
  }
}

// The filters first..first+count-1 of one group at one place.
void place_filters(const Conv2dArgs& a, const int8_t* image, const int8_t* weight,
                   const int32_t* bias, const Place& at, int32_t first, int32_t count, int8_t* y) {
  const int32_t taps = a.kernel_h * a.kernel_w, length = taps * a.kernel_c;
  const int32_t tap_step = a.kernel_c <= kWidened ? kWidened / a.kernel_c : 1;
  const int32_t channel_step = a.kernel_c <= kWidened ? a.kernel_c : kWidened;
  int16_t row[kWidened];
  uint32_t sums[kSums];
  if (length <= kWidened) gather(a, image, at, {0, taps, 0, a.kernel_c}, row);
  for (int32_t done = 0; done < count; done += kSums) {
    const int32_t here = count - done < kSums ? count - done : kSums, oc = first + done;
    for (int32_t i = 0; i < here; ++i) sums[i] = bias ? static_cast<uint32_t>(bias[oc + i]) : 0;
    const int8_t* filters = weight + oc * length;
    if (length <= kWidened) {
      add_dot_products(row, length, filters, length, here, sums);
    } else {
      for (int32_t tap = 0; tap < taps; tap += tap_step)
        for (int32_t c = 0; c < a.kernel_c; c += channel_step) {
          const Part part{tap, tap + tap_step < taps ? tap + tap_step : taps, c,
                          c + channel_step < a.kernel_c ? c + channel_step : a.kernel_c};
          gather(a, image, at, part, row);
          const int32_t elements = (part.end_tap - part.first_tap) * (part.end_c - part.first_c);
          add_dot_products(row, elements, filters + tap * a.kernel_c + c, length, here, sums);
        }
    }
    requantize_row_to_s8(sums, a.multiplier + oc, a.shift + oc, here, a.y_zero, a.y_min, a.y_max,
                         y + oc);
  }
}

}  // namespace

DEUTERON_HOST_CLONES void conv2d_s8(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                                    const int32_t* bias, int8_t* y) {
  const int32_t groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      Place at;
      at.ih = oh * a.stride_h - a.pad_h;
      at.h = taps_inside(at.ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        at.iw = ow * a.stride_w - a.pad_w;
        at.w = taps_inside(at.iw, a.kernel_w, a.dilation_w, a.in_w);
        for (int32_t g = 0; g < groups; ++g) {
          at.channel = g * a.kernel_c;
          place_filters(a, x, weight, bias, at, g * filters, filters, y);
        }
      }
    }
}

}  // namespace deuteron
