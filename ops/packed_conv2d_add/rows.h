// The convolution of some rows, then their addition, for an instruction set's kernels of both.
#pragma once
#include "ops/packed_conv2d_add/kernel.h"

namespace deuteron {

// The operands and the scratch of a call.
struct AddedRows {
  const PackedConv2dArgs& conv;
  const LinearAddArgs& sum;
  const int8_t *x, *packed, *other;
  void* scratch;
  int32_t scratch_bytes;
  int8_t* y;
};

// convolve(args, x, packed, scratch, scratch bytes, c) and add(args, c, other, y) are those of the kernels.
template <Packing p, class Convolve, class Sum>
inline void run_added_rows(const AddedRows& c, const Convolve& convolve, const Sum& add) {
  const PackedConv2dArgs& a = c.conv;
  const int32_t most = packed_conv2d_add_rows(a), row = a.out_w * a.out_c;
  const int32_t rows = c.scratch_bytes < packed_conv2d_add_scratch_bytes(a, p) ? 1 : most;
  const auto bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(a, rows));
  auto* const result = static_cast<int8_t*>(c.scratch);
  PackedConv2dArgs part = a;
  LinearAddArgs sum = c.sum;
  part.n = 1;
  const int8_t *image = c.x, *other = c.other;
  int8_t* y = c.y;
  for (int32_t n = 0; n < a.n; ++n, image += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; oh += rows, other += sum.count, y += sum.count) {
      const int32_t ih = oh * a.stride_h - a.pad_h, first = ih < 0 ? 0 : ih;  // rows of the input above `first` are not seen
      part.out_h = a.out_h - oh < rows ? a.out_h - oh : rows;
      part.in_h = a.in_h - first, part.pad_h = first - ih;
      convolve(part, image + first * a.in_w * a.in_c, c.packed, result + bytes, c.scratch_bytes - bytes, result);
      sum.count = sum.period = part.out_h * row;
      add(sum, result, other, y);
    }
}

}  // namespace deuteron
