// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution with packed weights and the addition of another tensor, in one call: what
// deuteron::packed_conv2d and then deuteron::linear_add give, some rows at a time, so that the
// result of the convolution never lies whole beside the two operands.
//   c = packed_conv2d(x)      y[i] = clamp((c[i] * x_factor + other[i] * other_factor + first) >>
//   20, -128, 127)
// Shapes   x, packed, c: kernels/conv2d/packed/kernel.h   other, y as c, without gaps
// Limits   why_not_packed_conv2d_add() is null, and what packed_conv2d asks for; sums of the
// addition wrap at 2^32 Scratch  packed_conv2d_add_scratch_bytes(), or
// packed_conv2d_add_least_scratch_bytes() and more, 4-aligned: rows of c, then what the
//          convolution uses
// Errors   none   Aliasing  y may be other; else y overlaps nothing   Source  those of the two
#pragma once
#include <cstdint>

#include "kernels/conv2d/packed/kernel.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

inline constexpr int32_t kAddedRowsBytes = 1024;  // of c, where a row has no more

// Rows of c that lie in the scratch at once, where it has room for them; else there is one. Of a
// result with elements, as is all below.
inline int32_t packed_conv2d_add_rows(const PackedConv2dArgs& a) {
  const int32_t row = a.out_w * a.out_c, rows = row < kAddedRowsBytes ? kAddedRowsBytes / row : 1;
  return rows < a.out_h ? rows : a.out_h;
}
// Bytes of so many rows, to where what the convolution uses is aligned.
inline int64_t packed_conv2d_add_rows_bytes(const PackedConv2dArgs& a, int32_t rows) {
  return (static_cast<uint32_t>(rows) * static_cast<uint32_t>(a.out_w * a.out_c) + 15) / 16 * 16;
}
inline int64_t packed_conv2d_add_scratch_bytes(const PackedConv2dArgs& a, Packing p) {
  return packed_conv2d_add_rows_bytes(a, packed_conv2d_add_rows(a)) +
         packed_conv2d_scratch_bytes(a, p);
}
inline int64_t packed_conv2d_add_least_scratch_bytes(const PackedConv2dArgs& a, Packing p) {
  return packed_conv2d_add_rows_bytes(a, 1) +
         packed_conv2d_scratch_bytes(a, p);  // none of it on the stack
}

// Null where a call that packed_conv2d serves may have the addition in it; of one that
// packed_conv2d_shifts serves the first of them says it.
inline const char* why_not_added_rows(const PackedConv2dArgs& a) {
  if (packed_conv2d_has_one_window(a))
    return "has one window, whose result is no larger than a row";
  if (int64_t{a.out_h - 1} * a.stride_h - a.pad_h >= a.in_h)
    return "has rows of windows that lie below the input";
  return nullptr;
}
inline const char* why_not_packed_conv2d_add(const PackedConv2dArgs& a) {
  return a.has_shifts ? "has shifts" : why_not_added_rows(a);
}

// `rows` of c at once: packed_conv2d_add_rows() or 1, as the scratch has room.
template <Packing p>
void packed_conv2d_add_s8(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                          const int8_t* packed, const int8_t* other, int32_t rows, void* scratch,
                          int32_t scratch_bytes, int8_t* y);

// The same with the M-profile Vector Extension, for mve_4x16, with the DSP extension, for dsp_4x4,
// and with neither, for scalar_1x4.
void packed_conv2d_add_s8_mve(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                              const int8_t* packed, const int8_t* other, int32_t rows,
                              void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_add_s8_dsp(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                              const int8_t* packed, const int8_t* other, int32_t rows,
                              void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_add_s8_scalar(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                 const int8_t* x, const int8_t* packed, const int8_t* other,
                                 int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y);

// What the first of them comes to for a form of the convolution, as in
// kernels/conv2d/packed/kernel.h; none for a single window.
void packed_conv2d_add_s8_mve_in_place(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                       const int8_t* x, const int8_t* packed, const int8_t* other,
                                       int32_t rows, void* scratch, int32_t scratch_bytes,
                                       int8_t* y);
void packed_conv2d_add_s8_mve_columns(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                      const int8_t* x, const int8_t* packed, const int8_t* other,
                                      int32_t rows, void* scratch, int32_t scratch_bytes,
                                      int8_t* y);
void packed_conv2d_add_s8_mve_rows(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                   const int8_t* x, const int8_t* packed, const int8_t* other,
                                   int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y);

// Nothing on the stack: scratch holds the rows of c, then packed_conv2d_windows_bytes().
void packed_conv2d_add_s8_dsp_in_scratch(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                         const int8_t* x, const int8_t* packed, const int8_t* other,
                                         int32_t rows, void* scratch, int32_t scratch_bytes,
                                         int8_t* y);

}  // namespace deuteron
