// Bytes of scratch that the kernels of each instruction set ask for, exactly as stock firmware does: the compiler plans as many.
// Source: CMSIS-NN arm_convolve_wrapper_s8_get_buffer_size and its variants; checked against every node of the stock program files.
#pragma once
#include "ops/conv2d/kernel.h"
#include "runtime/deuteron.h"

namespace deuteron {

inline int32_t round_up_to(int32_t v, int32_t multiple) { return (v + multiple - 1) / multiple * multiple; }

// A row-wise convolution on MVE: three parts of the row, of which the outer ones are copied with their padding. 0: not taken.
inline int32_t conv2d_1xn_mve_scratch_bytes(const Conv2dArgs& a) {
  const int32_t total = (a.out_w - 1) * a.stride_w + a.kernel_w - a.in_w;
  const int32_t after = total % 2;
  const auto parts = [&](int32_t pad) { return pad == 0 ? 0 : (pad + a.stride_w - 1) / a.stride_w > 1 ? (pad + a.stride_w - 1) / a.stride_w : 1; };
  const int32_t right = parts(a.pad_w + after), left = parts(a.pad_w);
  const int32_t rest = a.out_w - right - left, middle = rest > 0 ? rest : 0;
  if (right + middle + left != a.out_w) return 0;
  const int32_t pad_left = a.pad_w * a.in_c, pad_right = after != 0 ? right * a.in_c : pad_left;
  const int32_t first = a.kernel_w * a.in_c + pad_left, second = (a.kernel_w - 1) * a.in_c + pad_right;
  return first > second ? first : second;
}

inline int32_t conv2d_scratch_bytes(const Conv2dArgs& a, Isa isa) {
  const bool plain = a.in_c == a.kernel_c;  // not grouped
  if (plain && a.kernel_h == 1 && a.kernel_w == 1 && a.pad_h == 0 && a.pad_w == 0 && a.dilation_h == 1 && a.dilation_w == 1) return 0;
  const int32_t row = a.kernel_h * a.kernel_w * a.in_c;
  if (isa != Isa::mve) return 4 * round_up_to(row, 4);
  const bool one_row = plain && a.in_h == 1 && a.kernel_h == 1 && a.dilation_w == 1 && (a.stride_w * a.in_c) % 4 == 0;
  const int32_t bytes = one_row ? conv2d_1xn_mve_scratch_bytes(a) : 0;
  return bytes != 0 ? bytes : 4 * round_up_to(row, 16);
}

}  // namespace deuteron
