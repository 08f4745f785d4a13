// Maximum pooling with the DSP extension: 4 channels of an output pixel at a time.
#include <cstring>

#include "ops/image/window.h"
#include "ops/integer/extremes_dsp.h"
#include "ops/max_pool2d/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kMaximumChannels = 4;

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

// All channels of the output pixel oh, ow.
void pool_pixel(const MaxPool2dArgs& a, const int8_t* x, int32_t oh, int32_t ow, int8_t* y) {
  const uint32_t low = four_times(a.y_min), high = four_times(a.y_max);
  const int32_t ih = oh * a.stride_h - a.pad_h, iw = ow * a.stride_w - a.pad_w;
  const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h), w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  const int32_t step = a.dilation_w * a.channels, row_step = a.dilation_h * a.in_w * a.channels;
  x += (ih * a.in_w + iw) * a.channels + h.first * row_step + w.first * step;
  for (int32_t done = 0; done < a.channels; done += kMaximumChannels) {
    const int32_t c = a.channels - done < kMaximumChannels ? a.channels - kMaximumChannels : done;  // the last ones overlap
    const uint32_t most = smaller_bytes(most_of(x + c, h.end - h.first, w.end - w.first, row_step, step, low), high);
    std::memcpy(y + c, &most, sizeof most);
  }
}

}  // namespace

void max_pool2d_s8_dsp(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (a.channels < kMaximumChannels) return max_pool2d_s8(a, x, y);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t i = 0; i < a.out_h * a.out_w; ++i, y += a.channels) pool_pixel(a, x, i / a.out_w, i % a.out_w, y);
}

}  // namespace deuteron
