// SPDX-License-Identifier: Apache-2.0
// int8 fully connected layer behind a relu, with weights packed ahead of time
// (kernels/dense/packing.h). Its input has the zero point -128, so that what relu made 0 adds
// nothing: zeros at the end of a row are left out, and the weights that would meet them are not
// read.
//   y[r,o] = clamp(y_zero + rq(first[o] + sum over i of (x[r,i] + 128) * weight[o,i]), -128, 127)
//     rq(): kernels/conv2d/packed/kernel.h, with shifts or without
// Shapes   PackedConv2dArgs of packed_conv2d_is_rows(): every pixel of x is a row. packed: as for
// that kernel, but first[o] is the bias
//          alone, and weights are behind_relu()
// Units    x_zero -128; y_zero -128..127
// Limits   why_not_packed_linear() is null. The compiler proves what it does for packed_conv2d, but
// 255 * sum |weight[o]| < 2^23 for
//          dsp_4x4. With other bytes in `packed` the results are any int8, and nothing else happens
// Scratch  that of packed_conv2d
// Time     less where rows end with zeros: in blocks of 16 elements for mve_4x16, of 4 for dsp_4x4
// Errors   none   Aliasing  y overlaps nothing   Source  as packed_conv2d
#pragma once
#include "kernels/linear/packed/limits.h"

namespace deuteron {

template <Packing p>
void packed_linear_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y);

// The same with the M-profile Vector Extension, for mve_4x16. Reads nothing beyond its operands.
// There is no use for scratch.
void packed_linear_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_linear_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y);

// The same with the DSP extension, for dsp_4x4. A widened row for which `scratch` is too small lies
// on the stack.
void packed_linear_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y);
// Nothing on the stack: scratch_bytes is at least packed_conv2d_windows_bytes().
void packed_linear_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                     const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                     int8_t* y);

}  // namespace deuteron
