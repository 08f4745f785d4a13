// SPDX-License-Identifier: Apache-2.0
// Which calls deuteron::packed_linear serves; apart from its kernels, which a firmware without such
// calls does not have.
#pragma once
#include "kernels/conv2d/packed/kernel.h"

namespace deuteron {

// Null where the kernels serve a call.
inline const char* why_not_packed_linear(const PackedConv2dArgs& a, Packing p) {
  if (!packed_conv2d_is_rows(a)) return "has windows that are no rows of x";
  if (a.x_zero != -128) return "has another zero point of x than -128";
  return why_not_packed_windows(a, p);
}

}  // namespace deuteron
