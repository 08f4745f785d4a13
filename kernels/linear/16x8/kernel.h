// SPDX-License-Identifier: Apache-2.0
// Fully connected layer of int16 by int8 with TFLite's arithmetic (16x8), which brings sums to the
// result's steps in double.
//   v                  = first[o] + sum over i of x[r,i] * weight[o,i]
//   linear_16x8        y[r,o] = clamp(round(double(v) * scale[o]), y_min, y_max), v in 64 bits;
//   ties away from zero linear_16x8_narrow the same with v modulo 2^32
// Shapes   x [rows,inputs]   weight [outputs,inputs]   first, scale [outputs]   y [rows,outputs]
// storage order, no gaps; first of the wide
//          one may be null: zeros
// Units    x, weight and y have zero point 0; scale: the bits of a double of IEEE 754, positive and
// finite; y_min, y_max -32768..32767 Limits   none: proved by prepare(); v is taken modulo 2^64
// Scratch  none   Errors  none   Aliasing  y overlaps nothing
// Source   TFLite's reference kernels FullyConnected and FullyConnectedPerChannel with scales in
// float
#pragma once
#include <cstdint>

namespace deuteron {

struct Linear16x8Args {
  int32_t rows, inputs, outputs;
  int32_t y_min, y_max;
};

void linear_16x8(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                 const int64_t* first, const int64_t* scale, int16_t* y);
void linear_16x8_narrow(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                        const int32_t* first, const int64_t* scale, int16_t* y);

// The same with the M-profile Vector Extension.
void linear_16x8_mve(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int64_t* scale, int16_t* y);
void linear_16x8_narrow_mve(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int64_t* scale, int16_t* y);

// The same with the DSP extension.
void linear_16x8_dsp(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int64_t* scale, int16_t* y);
void linear_16x8_narrow_dsp(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int64_t* scale, int16_t* y);

}  // namespace deuteron
