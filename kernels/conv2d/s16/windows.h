// SPDX-License-Identifier: Apache-2.0
// The windows of an int16 convolution, as the inner loops want them: where they lie in x, or
// gathered in scratch.
#pragma once
#include <cstring>

#include "kernels/conv2d/s16/kernel.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"
#if defined(DEUTERON_MVE)
#include <arm_mve.h>
#endif

namespace deuteron {

// `columns` times `count` elements, from_step and to_step elements apart.
inline void copy_columns_s16(const int16_t* from, int32_t from_step, int32_t count, int32_t columns,
                             int16_t* to, int32_t to_step) {
#if defined(DEUTERON_MVE)
  for (int32_t first = 0; first < count; first += kS16Block) {
    const int16_t* x = from + first;
    int16_t* y = to + first;
    if (count - first >= kS16Block) {
      for (int32_t i = columns; i > 0; --i, x += from_step, y += to_step)
        vst1q_s16(y, vld1q_s16(x));
      continue;
    }
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count - first));
    for (int32_t i = columns; i > 0; --i, x += from_step, y += to_step)
      vst1q_p_s16(y, vld1q_z_s16(x, here), here);
  }
#else
  for (int32_t i = columns; i > 0; --i, from += from_step, to += to_step) {
    const int16_t* x = from;
    int16_t* y = to;
    int32_t left = count;
    for (; left >= 4; left -= 4, x += 4, y += 4) std::memcpy(y, x, 8);
    for (; left > 0; --left) *y++ = *x++;
  }
#endif
}
inline void clear_columns_s16(int32_t count, int32_t columns, int16_t* to, int32_t to_step) {
  for (; columns > 0; --columns, to += to_step)
    for (int32_t i = 0; i < count; ++i) to[i] = 0;
}

// `columns` columns of taps from row ih, column iw of the image on, which may lie outside. What
// fills a column up to an even number of elements stays as it is.
inline void fill_columns_s16(const Conv2dS16Args& a, const int16_t* image, int32_t ih, int32_t iw,
                             int32_t columns, int16_t* to) {
  const int32_t c = a.in_c, column = a.column(),
                apart = a.dilation_w;  // where it is not 1 there is one window
  const Taps inside = taps_inside(iw, columns, apart, a.in_w);
  for (int32_t kh = 0; kh < a.kernel_h; ++kh, ih += a.dilation_h, to += c) {
    if (ih < 0 || ih >= a.in_h) {
      clear_columns_s16(c, columns, to, column);
      continue;
    }
    clear_columns_s16(c, inside.first, to, column);
    if (inside.first < inside.end)
      copy_columns_s16(image + (ih * a.in_w + iw + inside.first * apart) * c, apart * c, c,
                       inside.end - inside.first, to + inside.first * column, column);
    clear_columns_s16(c, columns - inside.end, to + inside.end * column, column);
  }
}

// Calls run(x, step, windows, y): windows `step` elements apart, whose results lie one after the
// other.
template <class Run>
void each_strip_s16(const Conv2dS16Args& a, const int16_t* x, void* scratch, int16_t* y, Run run) {
  const int32_t image = a.in_h * a.in_w * a.in_c;
  if (conv2d_s16_is_in_one_piece(a)) {
    const int32_t step = a.stride_w * a.in_c, row = a.stride_h * a.in_w * a.in_c;
    const bool all_pixels = a.kernel_w == 1 && a.stride_h == 1 && a.stride_w == 1 &&
                            a.out_h == a.in_h && a.out_w == a.in_w;
    if (all_pixels) return run(x, step, a.n * a.out_h * a.out_w, y);
    for (int32_t n = 0; n < a.n; ++n, x += image)
      for (int32_t oh = 0; oh < a.out_h; ++oh, y += a.out_w * a.out_c)
        run(x + oh * row, step, a.out_w, y);
    return;
  }
  auto* const strip = static_cast<int16_t*>(scratch);
  // Weights of 0 stand for what no column fills. Of a file that has others there, the result may
  // not depend on what the memory held.
  if (a.length() != a.kernel_w * a.kernel_h * a.in_c || a.length() % kS16Block != 0)
    std::memset(strip, 0, static_cast<size_t>(conv2d_s16_scratch_bytes(a)));
  const int32_t most = conv2d_s16_windows_at_once(a), step = a.stride_w * a.column();
  for (int32_t n = 0; n < a.n; ++n, x += image)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ow += most) {
        const int32_t windows = a.out_w - ow < most ? a.out_w - ow : most;
        fill_columns_s16(a, x, oh * a.stride_h - a.pad_h, ow * a.stride_w - a.pad_w,
                         (windows - 1) * a.stride_w + a.kernel_w, strip);
        run(strip, step, windows, y);
        y += windows * a.out_c;
      }
}

}  // namespace deuteron
