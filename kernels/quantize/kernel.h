// SPDX-License-Identifier: Apache-2.0
// float32 to int8 or int16.
//   y[i] = clamp(zero + round(x[i] * reciprocal), low, high)
//     the product in float32; round to nearest, ties to even; beyond the range x saturates on its
//     side; NaN gives clamp(zero)
// Shapes   x, y [count]
// Units    reciprocal = 1 / scale, computed in float32, finite; zero, low, high in steps, within
// the type of y; low <= high Scratch  none   Errors  none   Aliasing  y may begin where x begins:
// element i is read before it is written Source   ExecuTorch 1.5, cortex_m::quantize_per_tensor;
// saturation of what it leaves undefined: docs/numerics.md With the M-profile Vector Extension,
// int8: whole blocks of kQuantizeBlock elements round the exact product, once, and take what is
// below the normal floats for zero; the elements behind the last block are as above. That is the
// fused multiply-add of stock firmware.
#pragma once
#include <cstdint>

namespace deuteron {

struct QuantizeArgs {
  int32_t count;
  float reciprocal;
  int32_t zero, low, high;
};

inline constexpr int32_t kQuantizeBlock = 16;

void quantize_s8(const QuantizeArgs& a, const float* x, int8_t* y);
void quantize_s16(const QuantizeArgs& a, const float* x, int16_t* y);

// As cores with the M-profile Vector Extension do: with its instructions, and for hosts without.
void quantize_s8_mve(const QuantizeArgs& a, const float* x, int8_t* y);
void quantize_s8_as_mve(const QuantizeArgs& a, const float* x, int8_t* y);
void quantize_s8_mve_blocks(const QuantizeArgs& a, const float* x,
                            int8_t* y);  // the whole blocks alone

// The same as quantize_s16 with its instructions, which take what is below the normal floats for
// zero: that makes no step of it. Limits   reciprocal < kQuantizeMostReciprocal
void quantize_s16_mve(const QuantizeArgs& a, const float* x, int16_t* y);
inline constexpr float kQuantizeMostReciprocal = 0x1p+124f;  // times 2^-126: less than half a step

// The same as quantize_s8 with the DSP extension and single-precision floats.
void quantize_s8_dsp(const QuantizeArgs& a, const float* x, int8_t* y);

// The same in integers, for cores without a floating-point unit.  Limits   reciprocal > 0
void quantize_s8_scalar(const QuantizeArgs& a, const float* x, int8_t* y);

}  // namespace deuteron
