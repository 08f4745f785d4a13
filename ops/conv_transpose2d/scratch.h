// SPDX-License-Identifier: Apache-2.0
// Bytes of the two scratch tensors that the stock kernel of cortex_m::quantized_transpose_conv2d
// asks for on each instruction set. Source: CMSIS-NN dbf45dbf,
// arm_transpose_conv_s8_get_buffer_size and ..._get_reverse_conv_buffer_size.
#pragma once
#include "kernels/conv_transpose2d/kernel.h"
#include "ops/conv2d/scratch.h"

namespace deuteron {

// With small strides and many channels it is a convolution with the filter turned round, over an
// input with holes; else it scatters.
inline bool conv_transpose2d_is_reversed(const ConvTranspose2dArgs& a) {
  return a.stride_h <= 2 && a.stride_w <= 2 && a.in_c > 16;
}

// Wrong in the stock sizing, and so here: it widens a row by stride_h where the kernel needs
// stride_w. With stride_w > stride_h and stride_w > kernel_w the stock kernel writes past this. Do
// not lower such a convolution.
inline int64_t conv_transpose2d_scratch_bytes(const ConvTranspose2dArgs& a, Isa isa) {
  if (conv_transpose2d_is_reversed(a))
    return conv2d_columns_bytes(int64_t{a.kernel_h} * a.kernel_w, a.in_c, isa);
  const int64_t wide = a.kernel_w > a.stride_h ? a.kernel_w : a.stride_h,
                high = a.kernel_h > a.stride_h ? a.kernel_h : a.stride_h;
  return 4 * ((int64_t{a.in_w} - 1) * a.stride_w + wide) * a.out_c * high;
}

inline int64_t conv_transpose2d_output_scratch_bytes(const ConvTranspose2dArgs& a) {
  return conv_transpose2d_is_reversed(a) ? int64_t{a.in_c} * a.kernel_h * a.kernel_w * a.out_c : 0;
}

}  // namespace deuteron
