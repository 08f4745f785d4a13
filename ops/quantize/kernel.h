// float32 to int8 or int16.
//   y[i] = clamp(zero + round(x[i] * reciprocal), low, high)
//     the product in float32; round to nearest, ties to even; beyond the range x saturates on its side; NaN gives clamp(zero)
// Shapes   x, y [count]
// Units    reciprocal = 1 / scale, computed in float32, finite; zero, low, high in steps, within the type of y; low <= high
// Scratch  none   Errors  none   Aliasing  y may begin where x begins: element i is read before it is written
// Source   ExecuTorch 1.5, cortex_m::quantize_per_tensor; saturation of what it leaves undefined: docs/numerics.md
#pragma once
#include <cstdint>

namespace deuteron {

struct QuantizeArgs {
  int32_t count;
  float reciprocal;
  int32_t zero, low, high;
};

void quantize_s8(const QuantizeArgs& a, const float* x, int8_t* y);
void quantize_s16(const QuantizeArgs& a, const float* x, int16_t* y);

// The same with the M-profile Vector Extension and its floats.
void quantize_s8_mve(const QuantizeArgs& a, const float* x, int8_t* y);

// The same with the DSP extension and single-precision floats.
void quantize_s8_dsp(const QuantizeArgs& a, const float* x, int8_t* y);

// The same in integers, for cores with Thumb-2 and no floating-point unit.
void quantize_s8_scalar(const QuantizeArgs& a, const float* x, int8_t* y);

}  // namespace deuteron
