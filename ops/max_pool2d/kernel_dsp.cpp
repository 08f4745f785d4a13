// Maximum pooling with the DSP extension: 4 channels of an output pixel at a time.
#include <cstring>

#include "ops/image/window.h"
#include "ops/integer/extremes_dsp.h"
#include "ops/max_pool2d/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kChannels = 4;

// Four channels of one output pixel; `row`: the first tap inside.
uint32_t most_of(const int8_t* row, int32_t taps_h, int32_t taps_w, int32_t row_step, int32_t step, uint32_t most) {
  for (; taps_h > 0; --taps_h, row += row_step) {
    const int8_t* from = row;
    for (int32_t w = taps_w; w > 0; --w, from += step) {
      uint32_t word;
      std::memcpy(&word, from, sizeof word);
      most = larger_bytes(word, most);
    }
  }
  return most;
}

}  // namespace

void max_pool2d_s8_dsp(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (a.channels < kChannels) return max_pool2d_s8(a, x, y);
  const uint32_t low = four_times(a.y_min), high = four_times(a.y_max);
  const int32_t step = a.dilation_w * a.channels, row_step = a.dilation_h * a.in_w * a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const int8_t* first = x + ((ih + h.first * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.channels;
        for (int32_t c = 0; c < a.channels; c += kChannels) {
          const int32_t from = a.channels - c < kChannels ? a.channels - kChannels : c;  // the last ones overlap
          const uint32_t most = smaller_bytes(most_of(first + from, h.end - h.first, w.end - w.first, row_step, step, low), high);
          std::memcpy(y + from, &most, sizeof most);
        }
      }
    }
}

}  // namespace deuteron
