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

// Some rows of a call's result.
struct AddedStep {
  PackedConv2dArgs part;
  LinearAddArgs sum;
  const int8_t *image, *x, *other;
  int8_t* y;
  int32_t images, left, ih;  // that are still to come; the first row of the input, above it: < 0
};

DEUTERON_ONE_COPY inline void begin_added(const AddedRows& k, AddedStep& step) {
  const PackedConv2dArgs& a = k.conv;
  // Field by field: to copy them whole, a compiler fetches memcpy.
  step.part = {1,          a.in_h,   a.in_w,       a.in_c,       a.out_h,
               a.out_w,    a.out_c,  a.kernel_h,   a.kernel_w,   a.stride_h,
               a.stride_w, a.pad_h,  a.pad_w,      a.dilation_h, a.dilation_w,
               a.x_zero,   a.y_zero, a.has_shifts, a.y_step,     a.y_row};
  step.sum = {0, 0, k.sum.x_factor, k.sum.other_factor, k.sum.first};
  step.image = nullptr, step.other = k.other, step.y = k.y;
  step.images = a.n, step.left = 0, step.ih = 0;
}

// False: there are none left.
DEUTERON_ONE_COPY inline bool next_added(const AddedRows& k, AddedStep& step) {
  const PackedConv2dArgs& a = k.conv;
  step.other += step.sum.count, step.y += step.sum.count;
  step.left -= k.rows, step.ih += k.rows * a.stride_h;
  if (step.left <= 0) {
    if (--step.images < 0) return false;
    step.left = a.out_h, step.ih = -a.pad_h,
    step.image = step.image == nullptr ? k.x : step.image + a.in_h * a.in_w * a.in_c;
  }
  const int32_t first = step.ih < 0 ? 0 : step.ih;  // rows of the input above it are not seen
  step.part.out_h = step.left < k.rows ? step.left : k.rows;
  step.part.in_h = a.in_h - first, step.part.pad_h = first - step.ih;
  step.x = step.image + first * a.in_w * a.in_c;
  step.sum.count = step.sum.period = step.part.out_h * a.y_row;
  return true;
}

// convolve(args, x, packed, scratch, scratch bytes, c) and add(args, c, other, y) are those of the
// kernels.
template <class Convolve, class Sum>
inline void run_added_rows(const AddedRows& k, const Convolve& convolve, const Sum& add) {
  const auto bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(k.conv, k.rows));
  auto* const c = static_cast<int8_t*>(k.scratch);
  AddedStep step;
  for (begin_added(k, step); next_added(k, step);) {
    convolve(step.part, step.x, k.packed, c + bytes, k.scratch_bytes - bytes, c);
    add(step.sum, c, step.other, step.y);
  }
}

}  // namespace deuteron
