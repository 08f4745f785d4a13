// SPDX-License-Identifier: Apache-2.0
// How the windows of a convolution lie in its input: what kernels of an instruction set decide by.
#pragma once
#include "kernels/conv2d/kernel.h"

namespace deuteron {

// Every window lies inside x, and its elements follow one another.
inline bool windows_in_one_piece(const Conv2dArgs& a) {
  if (a.pad_h != 0 || a.pad_w != 0) return false;
  if ((a.out_h - 1) * a.stride_h + (a.kernel_h - 1) * a.dilation_h >= a.in_h) return false;
  if ((a.out_w - 1) * a.stride_w + (a.kernel_w - 1) * a.dilation_w >= a.in_w) return false;
  if (a.kernel_h == 1 && a.kernel_w == 1) return true;
  if (a.kernel_c != a.in_c || (a.kernel_w > 1 && a.dilation_w != 1)) return false;
  return a.kernel_h == 1 || (a.kernel_w == a.in_w && a.dilation_h == 1);
}

}  // namespace deuteron
