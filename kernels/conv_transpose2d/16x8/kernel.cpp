// SPDX-License-Identifier: Apache-2.0
// Portable transposed convolution of int16 by int8: each result gathers the taps that reach it.
#include "kernels/conv_transpose2d/16x8/kernel.h"

#include "kernels/integer/products_16x8.h"
#include "kernels/integer/sum_16x8.h"

namespace deuteron {
namespace {

// The place of x under tap k of result o: negative or behind x where there is none.
struct Axis {
  int32_t extent, stride, pad;
  int32_t place(int32_t o, int32_t k) const {
    const int32_t at = o + pad - k;
    if (at < 0 || at % stride != 0) return -1;
    return at / stride < extent ? at / stride : -1;
  }
};

template <class Finish>
void each_result(const ConvTranspose2d16x8Args& args, const int16_t* x, const int8_t* weight,
                 int16_t* y, Finish finish) {
  // for all the compiler knows, y might lie over the arguments
  const ConvTranspose2d16x8Args a = args;
  const Axis rows{a.in_h, a.stride_h, a.pad_h}, columns{a.in_w, a.stride_w, a.pad_w};
  const int32_t row = a.in_w * a.in_c, filter_row = a.kernel_w * a.in_c,
                filter = a.kernel_h * filter_row;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow) {
        const int8_t* w = weight;
        for (int32_t oc = 0; oc < a.out_c; w += 2 * filter) {
          const int32_t two = a.out_c - oc > 1 ? 2 : 1;
          Products16x8 products;
          for (int32_t kh = 0; kh < a.kernel_h; ++kh) {
            const int32_t ih = rows.place(oh, kh);
            for (int32_t kw = 0; kw < a.kernel_w && ih >= 0; ++kw)
              if (const int32_t iw = columns.place(ow, kw); iw >= 0)
                products.add(x + ih * row + iw * a.in_c, w + kh * filter_row + kw * a.in_c,
                             two > 1 ? filter : 0, a.in_c);
          }
          for (int32_t k = 0; k < two; ++k, ++oc)
            *y++ = static_cast<int16_t>(clamp_to(finish(oc, products.total(k)), a.y_min, a.y_max));
        }
      }
}

}  // namespace

void conv_transpose2d_16x8(const ConvTranspose2d16x8Args& a, const int16_t* x, const int8_t* weight,
                           const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                           int16_t* y) {
  each_result(a, x, weight, y, Wide16x8{first, multiplier, shift});
}

void conv_transpose2d_16x8_narrow(const ConvTranspose2d16x8Args& a, const int16_t* x,
                                  const int8_t* weight, const int32_t* first,
                                  const int32_t* multiplier, const int32_t* shift, int16_t* y) {
  each_result(a, x, weight, y, Narrow16x8{first, multiplier, shift});
}

}  // namespace deuteron
