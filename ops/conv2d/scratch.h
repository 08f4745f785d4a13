// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that the stock kernel of cortex_m::quantized_conv2d asks for on each instruction
// set. The compiler plans them, so that stock firmware runs the file. Source: CMSIS-NN dbf45dbf,
// arm_convolve_wrapper_s8_get_buffer_size; checked against every such node of the stock files.
#pragma once
#include "kernels/conv2d/kernel.h"
#include "runtime/deuteron.h"

namespace deuteron {

// The general way gathers columns: two of int16, or four of int8 in whole vectors of 16. For a
// grouped convolution it counts all channels.
inline int64_t conv2d_columns_bytes(int64_t taps, int64_t channels, Isa isa) {
  const int64_t length = taps * channels;
  return isa == Isa::mve ? 4 * ((length + 15) / 16 * 16) : 4 * ((length + 3) / 4 * 4);
}

inline bool conv2d_is_1x1(const Conv2dArgs& a) {
  return a.pad_h == 0 && a.pad_w == 0 && a.kernel_h == 1 && a.kernel_w == 1 && a.dilation_h == 1 &&
         a.dilation_w == 1 && a.in_c == a.kernel_c;
}
inline bool conv2d_is_1xn(const Conv2dArgs& a) {
  return a.in_h == 1 && a.kernel_h == 1 && a.dilation_w == 1 &&
         int64_t{a.stride_w} * a.in_c % 4 == 0 && a.in_c == a.kernel_c;
}

// One image row on MVE: only the windows that reach into the padding are copied.
inline int64_t conv2d_1xn_mve_bytes(const Conv2dArgs& a) {
  const int64_t total = (int64_t{a.out_w} - 1) * a.stride_w + a.kernel_w - a.in_w,
                uneven = total % 2;
  const auto windows_in = [&a](int64_t pad) {
    const int64_t n = (pad + a.stride_w - 1) / a.stride_w;
    return pad == 0 ? int64_t{0} : n > 1 ? n : int64_t{1};
  };
  const int64_t left = windows_in(a.pad_w), right = windows_in(a.pad_w + uneven);
  const int64_t middle = a.out_w - left - right > 0 ? a.out_w - left - right : 0;
  if (left + middle + right != a.out_w)
    return conv2d_columns_bytes(int64_t{a.kernel_h} * a.kernel_w, a.in_c, Isa::mve);
  const int64_t pad_left = int64_t{a.pad_w} * a.in_c,
                pad_right = uneven ? right * a.in_c : pad_left;
  const int64_t whole = int64_t{a.kernel_w} * a.in_c + pad_left,
                cut = (int64_t{a.kernel_w} - 1) * a.in_c + pad_right;
  return whole > cut ? whole : cut;
}

inline int64_t conv2d_scratch_bytes(const Conv2dArgs& a, Isa isa) {
  if (conv2d_is_1x1(a)) return 0;
  if (isa == Isa::mve && conv2d_is_1xn(a)) return conv2d_1xn_mve_bytes(a);
  return conv2d_columns_bytes(int64_t{a.kernel_h} * a.kernel_w, a.in_c, isa);
}

}  // namespace deuteron
