// SPDX-License-Identifier: Apache-2.0
// int8 or int16 to float32: y[i] = float32(x[i] - zero) * scale, one rounding.
// Shapes   x, y [count]
// Units    scale finite; zero in steps, within the type of x
// Scratch  none   Errors  none   Aliasing  y overlaps nothing (it is wider)   Source
// ExecuTorch 1.5, cortex_m::dequantize_per_tensor
#pragma once
#include <cstdint>

namespace deuteron {

struct DequantizeArgs {
  int32_t count;
  float scale;
  int32_t zero;
};

void dequantize_s8(const DequantizeArgs& a, const int8_t* x, float* y);
void dequantize_s16(const DequantizeArgs& a, const int16_t* x, float* y);

// The same with the M-profile Vector Extension and its floats.
void dequantize_s8_mve(const DequantizeArgs& a, const int8_t* x, float* y);

// The same with the DSP extension and single-precision floats.
void dequantize_s8_dsp(const DequantizeArgs& a, const int8_t* x, float* y);

// The same in integers, for cores without a floating-point unit.
void dequantize_s8_scalar(const DequantizeArgs& a, const int8_t* x, float* y);

}  // namespace deuteron
