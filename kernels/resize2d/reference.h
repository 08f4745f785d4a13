// SPDX-License-Identifier: Apache-2.0
// The resizing of kernel.h, row by row and then column by column, in wide arithmetic. Host only,
// for tests.
#pragma once
#include "kernels/resize2d/kernel.h"

namespace deuteron {

template <class T>
void resize2d_reference(const Resize2dArgs& a, const T* x, const int32_t* rows,
                        const int32_t* columns, T* y) {
  const int64_t one = int64_t{1} << kResizeBits;
  const auto last = [](int64_t k, int64_t extent) { return k < extent ? k : extent - 1; };
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t c = 0; c < a.channels; ++c) {
          const auto row = [&](int64_t h) {
            const auto at = [&](int64_t w) {
              return int64_t{x[((n * a.in_h + h) * a.in_w + last(w, a.in_w)) * a.channels + c]};
            };
            return (one - columns[2 * ow + 1]) * at(columns[2 * ow]) +
                   columns[2 * ow + 1] * at(columns[2 * ow] + 1);
          };
          const int64_t first = rows[2 * oh], weight = rows[2 * oh + 1];
          const int64_t sum = (one - weight) * row(first) + weight * row(last(first + 1, a.in_h));
          const int64_t rounded = (2 * (sum < 0 ? -sum : sum) + one * one) / (2 * one * one);
          y[((n * a.out_h + oh) * a.out_w + ow) * a.channels + c] =
              static_cast<T>(sum < 0 ? -rounded : rounded);
        }
}

}  // namespace deuteron
