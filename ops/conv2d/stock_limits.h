// SPDX-License-Identifier: Apache-2.0
// Where the stock kernel of cortex_m::quantized_conv2d does not compute the contract of kernel.h,
// so that the compiler lowers another way there (a pad of its own, most often). Ours has none of
// these limits. Source: CMSIS-NN 99f736a, the functions named below; found and confirmed by running
// both kernels on 41 000 seeded convolutions on x86-64, Cortex-M4 and Cortex-M55 (QEMU): none was
// missed.
#pragma once
#include "ops/conv2d/scratch.h"

namespace deuteron {

// arm_convolve_1_x_n_s8 on MVE copies the windows that reach into the padding from two buffers, and
// takes much for granted: a kernel row that fits the image, and padding that is split as
// TensorFlow's SAME splits it, with nothing left over by the stride.
inline const char* why_stock_1xn_mve_differs(const Conv2dArgs& a) {
  if (a.out_h != 1 || a.pad_h != 0) return "one row for MVE: no padding above or below";
  const int64_t total = (int64_t{a.out_w} - 1) * a.stride_w + a.kernel_w - a.in_w,
                uneven = total % 2;
  if (int64_t{a.pad_w} * 2 + uneven != total)
    return "one row for MVE: the stride leaves columns over, or the padding is uneven by two or "
           "more";
  const auto windows_in = [&a](int64_t pad) {
    const int64_t n = (pad + a.stride_w - 1) / a.stride_w;
    return pad == 0 ? int64_t{0} : n > 1 ? n : int64_t{1};
  };
  const int64_t left = windows_in(a.pad_w), right = windows_in(a.pad_w + uneven);
  const int64_t middle = a.out_w - left - right > 0 ? a.out_w - left - right : 0;
  if (left + middle + right != a.out_w) return nullptr;  // arm_convolve_s8, which is right
  if (a.kernel_w > a.in_w) return "one row for MVE: the kernel is wider than the image";
  if (middle > 0 && a.stride_w * (left + middle - 1) - a.pad_w + a.kernel_w > a.in_w)
    return "one row for MVE: a middle window reaches the padding";
  // On the right: kernel_w - 1 columns of the image, then padding. Each tap must find what it would
  // find in the image.
  const int64_t start = a.stride_w * (left + middle) - a.pad_w,
                pad_right = uneven ? right : a.pad_w;
  for (int64_t j = 0; j < right; ++j)
    for (int64_t k = 0; k < a.kernel_w; ++k) {
      const int64_t p = j * a.stride_w + k;
      const bool image = p < a.kernel_w - 1;
      if (image != (start + p < a.in_w) || p >= a.kernel_w - 1 + pad_right)
        return "one row for MVE: a window at the right end sees other columns";
    }
  return nullptr;
}

// Null when the stock kernel gives what kernel.h says.
inline const char* why_stock_conv2d_differs(const Conv2dArgs& a, Isa isa) {
  // arm_convolve_s8 keeps extents, and the taps of one filter, in uint16
  constexpr int64_t kU16 = 65535;
  const int32_t extents[] = {a.in_h,     a.in_w,     a.in_c,  a.out_h, a.out_w,    a.out_c,
                             a.kernel_h, a.kernel_w, a.pad_h, a.pad_w, a.stride_h, a.stride_w};
  if (conv2d_is_1x1(a)) {
    // arm_convolve_1x1_s8_fast runs over the input's pixels, whatever the output: a smaller output
    // is written past its end.
    const bool fast = a.stride_h == 1 && a.stride_w == 1;
    return fast && (a.out_h != a.in_h || a.out_w != a.in_w)
               ? "1x1: the output must have the extents of the input"
               : nullptr;
  }
  if (isa == Isa::mve && conv2d_is_1xn(a))
    if (const char* why = why_stock_1xn_mve_differs(a)) return why;
  for (const int32_t e : extents)
    if (e > kU16) return "an extent is above 65535";
  if (int64_t{a.kernel_h} * a.kernel_w * a.kernel_c > kU16)
    return "a filter has more than 65535 elements";
  return nullptr;
}

}  // namespace deuteron
