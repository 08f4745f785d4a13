// Average pooling with the DSP extension: the sums of 4 channels of an output pixel at a time, two in a word.
#include "ops/avg_pool2d/kernel.h"
#include "ops/image/window.h"
#include "ops/integer/sums_dsp.h"

namespace deuteron {
namespace {

// Four channels of one output pixel; `first` is the first tap inside.
void average_dsp(const AvgPool2dArgs& a, const int8_t* first, int32_t taps_h, int32_t taps_w, int8_t* y) {
  const int32_t taps = taps_h * taps_w, half = taps / 2, begin = -a.base * taps;
  int32_t sums[kSumNeighbours] = {begin, begin, begin, begin};
  for (int32_t h = 0; h < taps_h; ++h) add_rows_dsp(first + h * a.in_w * a.channels, taps_w, a.channels, sums);
  for (int32_t i = 0; i < kSumNeighbours; ++i) y[i] = static_cast<int8_t>((sums[i] > 0 ? sums[i] + half : sums[i] - half) / taps + a.base);
}

}  // namespace

void avg_pool2d_s8_dsp(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (a.channels < kSumNeighbours) return avg_pool2d_s8(a, x, y);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        const int8_t* first = x + ((ih + h.first) * a.in_w + iw + w.first) * a.channels;
        for (int32_t c = 0; c < a.channels; c += kSumNeighbours) {
          const int32_t from = a.channels - c < kSumNeighbours ? a.channels - kSumNeighbours : c;  // the last ones overlap
          average_dsp(a, first + from, h.end - h.first, w.end - w.first, y + from);
        }
      }
    }
}

}  // namespace deuteron
