// SPDX-License-Identifier: Apache-2.0
// The convolution of some rows, then their addition, for an instruction set's kernels of both.
#pragma once
#include "kernels/common/one_copy.h"
#include "kernels/conv2d/packed_add/kernel.h"

namespace deuteron {

// The operands and the scratch of a call.
struct AddedRows {
  const PackedConv2dArgs& conv;
  const LinearAddArgs& sum;
  const int8_t *x, *packed, *other;
  int32_t rows;
  void* scratch;
  int32_t scratch_bytes;
  int8_t* y;
};

// Those of the kernels.
using ConvolveRows = void (*)(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                              void* scratch, int32_t scratch_bytes, int8_t* c);
using AddRows = void (*)(const LinearAddArgs& a, const int8_t* c, const int8_t* other, int8_t* y);

DEUTERON_ONE_COPY inline void run_added_rows(const AddedRows& k, ConvolveRows convolve,
                                             AddRows add) {
  const PackedConv2dArgs& a = k.conv;
  const auto bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(a, k.rows));
  auto* const c = static_cast<int8_t*>(k.scratch);
  // Field by field: to copy them whole, a compiler fetches memcpy.
  PackedConv2dArgs part{1,          a.in_h,   a.in_w,       a.in_c,       a.out_h,
                        a.out_w,    a.out_c,  a.kernel_h,   a.kernel_w,   a.stride_h,
                        a.stride_w, a.pad_h,  a.pad_w,      a.dilation_h, a.dilation_w,
                        a.x_zero,   a.y_zero, a.has_shifts, a.y_step,     a.y_row};
  LinearAddArgs sum{0, 0, k.sum.x_factor, k.sum.other_factor, k.sum.first};
  const int8_t *image = k.x, *other = k.other;
  int8_t* y = k.y;
  for (int32_t n = a.n; n > 0; --n, image += a.in_h * a.in_w * a.in_c)
    for (int32_t left = a.out_h, ih = -a.pad_h; left > 0;
         left -= k.rows, ih += k.rows * a.stride_h) {
      const int32_t first = ih < 0 ? 0 : ih;  // rows of the input above it are not seen
      part.out_h = left < k.rows ? left : k.rows;
      part.in_h = a.in_h - first, part.pad_h = first - ih;
      convolve(part, image + first * a.in_w * a.in_c, k.packed, c + bytes, k.scratch_bytes - bytes,
               c);
      sum.count = sum.period = part.out_h * a.y_row;
      add(sum, c, other, y);
      other += sum.count, y += sum.count;
    }
}

}  // namespace deuteron
