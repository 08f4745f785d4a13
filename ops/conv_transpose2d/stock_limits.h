// SPDX-License-Identifier: Apache-2.0
// Where the stock kernel of cortex_m::quantized_transpose_conv2d does not compute the contract of
// kernel.h, or writes outside its tensors. Ours has none of these limits. Source: CMSIS-NN dbf45dbf
// and 99f736a, arm_transpose_conv_s8 and arm_transpose_conv_wrapper_s8; found and confirmed as in
// ops/conv2d/stock_limits.h.
#pragma once
#include "kernels/common/cmsis_nn.h"
#include "ops/conv_transpose2d/scratch.h"

namespace deuteron {

// Null when the stock kernel gives what kernel.h says.
inline const char* why_stock_conv_transpose2d_differs(const ConvTranspose2dArgs& a,
                                                      CmsisNn version) {
  if (conv_transpose2d_is_reversed(a))
    return a.pad_h >= a.kernel_h || a.pad_w >= a.kernel_w
               ? "reversed: the padding must be less than the kernel"
               : nullptr;
  // Rows that are done leave a ring of sums stride_h at a time; where the padding ends within such
  // a step, all rows behind are misplaced.
  if (version == CmsisNn::at_dbf45dbf && a.pad_h % a.stride_h != 0)
    return "scattered: the padding must be a multiple of the stride";
  const auto larger = [](int64_t u, int64_t v) { return u > v ? u : v; };
  if (int64_t{a.in_h} * a.stride_h - a.pad_h > a.out_h)
    return "scattered: more rows become final than the output has, and are written past its end";
  if (int64_t{a.in_h} * a.stride_h < a.pad_h)
    return "scattered: the padding is higher than all rows";
  if (int64_t{a.pad_h} + a.out_h >
      (int64_t{a.in_h} - 1) * a.stride_h + larger(a.kernel_h, a.stride_h))
    return "scattered: the last rows are never written";
  if (int64_t{a.pad_w} + a.out_w >
      (int64_t{a.in_w} - 1) * a.stride_w + larger(a.kernel_w, a.stride_w))
    return "scattered: columns behind the row of sums";
  if (larger(a.kernel_w, a.stride_w) > larger(a.kernel_w, a.stride_h))
    return "scattered: more scratch is used than asked for";
  return nullptr;
}

}  // namespace deuteron
