// Portable convolution of int16 by int8. Taps of one row that lie side by side in x are one run of products.
#include "ops/conv2d_16x8/kernel.h"

#include "ops/image/window.h"
#include "ops/integer/requantize.h"
#include "ops/integer/sum_16x8.h"

namespace deuteron {
namespace {

// Calls finish(oc, sum) for each result in turn and stores what it gives.
template <class Finish>
void each_result(const Conv2d16x8Args& args, const int16_t* x, const int8_t* weight, int16_t* y, Finish finish) {
  const Conv2d16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int32_t row = a.in_w * a.in_c, filter_row = a.kernel_w * a.kernel_c, filter = a.kernel_h * filter_row;
  const int32_t filters = a.out_c / (a.in_c / a.kernel_c);  // of a group
  const bool together = a.kernel_c == a.in_c && a.dilation_w == 1;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t top = oh * a.stride_h - a.pad_h;
      const Taps rows = taps_inside(top, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow) {
        const int32_t left = ow * a.stride_w - a.pad_w;
        const Taps columns = taps_inside(left, a.kernel_w, a.dilation_w, a.in_w);
        const int32_t taps = columns.end - columns.first;
        const int8_t* w = weight;
        for (int32_t oc = 0; oc < a.out_c; ++oc, w += filter) {
          Sum16x8 sum;
          const int32_t channel = oc / filters * a.kernel_c;
          for (int32_t kh = rows.first; kh < rows.end && taps > 0; ++kh) {
            const int16_t* from = x + (top + kh * a.dilation_h) * row + (left + columns.first * a.dilation_w) * a.in_c + channel;
            const int8_t* by = w + kh * filter_row + columns.first * a.kernel_c;
            if (together) {
              sum.add(from, by, taps * a.kernel_c);
              continue;
            }
            for (int32_t k = 0; k < taps; ++k) sum.add(from + k * a.dilation_w * a.in_c, by + k * a.kernel_c, a.kernel_c);
          }
          *y++ = static_cast<int16_t>(clamp_to(finish(oc, sum.total()), a.y_min, a.y_max));
        }
      }
    }
}

}  // namespace

void conv2d_16x8(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight, const int64_t* first, const int32_t* multiplier,
                 const int32_t* shift, int16_t* y) {
  each_result(a, x, weight, y, [&](int32_t oc, int64_t sum) {
    return requantize_16x8(sum_from(first != nullptr ? first[oc] : 0, sum), multiplier[oc], shift[oc]);
  });
}

void conv2d_16x8_narrow(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight, const int32_t* first, const int32_t* multiplier,
                        const int32_t* shift, int16_t* y) {
  each_result(a, x, weight, y, [&](int32_t oc, int64_t sum) {
    return requantize(add_wrapping(first[oc], static_cast<int32_t>(sum)), multiplier[oc], shift[oc]);
  });
}

}  // namespace deuteron
