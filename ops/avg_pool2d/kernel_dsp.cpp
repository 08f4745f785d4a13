// Average pooling with the DSP extension: the sums of 4 channels of an output pixel at a time, two in a word.
#include <arm_acle.h>

#include <cstring>

#include "ops/avg_pool2d/kernel.h"
#include "ops/image/window.h"

namespace deuteron {
namespace {

constexpr int32_t kAverageChannels = 4;
constexpr int32_t kTapsAtOnce = 255;  // sums of so many int8 fit int16

uint32_t odd_bytes(uint32_t word) {  // 1 and 3, where SXTB16 takes them
  return word >> 8 | word << 24;
}

// Four channels of one output pixel; `first` is the first tap inside.
void average_dsp(const AvgPool2dArgs& a, const int8_t* first, int32_t taps_h, int32_t taps_w, int8_t* y) {
  const int32_t taps = taps_h * taps_w, half = taps / 2;
  int32_t sums[kAverageChannels] = {};
  for (int32_t h = 0; h < taps_h; ++h) {
    const int8_t* from = first + h * a.in_w * a.channels;
    for (int32_t done = 0; done < taps_w; done += kTapsAtOnce) {
      const int32_t left = taps_w - done;
      int16x2_t even = 0, odd = 0;
      for (int32_t w = left < kTapsAtOnce ? left : kTapsAtOnce; w > 0; --w, from += a.channels) {
        uint32_t word;
        std::memcpy(&word, from, sizeof word);
        even = __sxtab16(even, static_cast<int8x4_t>(word));
        odd = __sxtab16(odd, static_cast<int8x4_t>(odd_bytes(word)));
      }
      sums[0] += static_cast<int16_t>(even), sums[1] += static_cast<int16_t>(odd), sums[2] += even >> 16, sums[3] += odd >> 16;
    }
  }
  for (int32_t i = 0; i < kAverageChannels; ++i) y[i] = static_cast<int8_t>((sums[i] > 0 ? sums[i] + half : sums[i] - half) / taps);
}

}  // namespace

void avg_pool2d_s8_dsp(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (a.channels < kAverageChannels) return avg_pool2d_s8(a, x, y);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        const int8_t* first = x + ((ih + h.first) * a.in_w + iw + w.first) * a.channels;
        for (int32_t c = 0; c < a.channels; c += kAverageChannels) {
          const int32_t from = a.channels - c < kAverageChannels ? a.channels - kAverageChannels : c;  // the last ones overlap
          average_dsp(a, first + from, h.end - h.first, w.end - w.first, y + from);
        }
      }
    }
}

}  // namespace deuteron
