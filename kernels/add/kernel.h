// SPDX-License-Identifier: Apache-2.0
// int8 addition of two tensors with their own scales.
//   y[i] = clamp(y_zero + rq(rq((x[i] - x.zero) * 2^20, x) + rq((other[i mod period] - other.zero)
//   * 2^20, other), y), y_min, y_max)
//     rq(v, p) = requantize(v, p.multiplier, p.shift): kernels/integer/requantize.h
// Shapes   x, y [count]   other [period], repeated; period = count is an addition element for
// element Units    zero points -128..127 in steps; y_min, y_max -128..127; multiplier Q0.31,
// negative to subtract; shift -31..30 Limits   count divides by period; sums wrap at 2^32 Scratch
// none   Errors  none   Aliasing  y may be x, and other when period = count; else y overlaps
// nothing Source   TFLite 8-bit quantization specification, ADD; the left shift of 20:
// ExecuTorch 1.5, cortex_m::quantized_add
#pragma once
#include <cstdint>

namespace deuteron {

struct Rescale {
  int32_t zero, multiplier, shift;
};
struct AddArgs {
  int32_t count, period;
  Rescale x, other, y;
  int32_t y_min, y_max;
};

void add_s8(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// The same with the M-profile Vector Extension.
// Limits   why_not_add_mve() is null
void add_s8_mve(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// Null where add_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_add_mve(const AddArgs& a) {
  if (a.x.shift > 0 || a.other.shift > 0) return "an operand is scaled by 1 or more";
  if (a.y.shift >= 0) return "the sum is not scaled down";
  return nullptr;
}

// The same with the DSP extension.
// Limits   why_not_add_dsp() is null
void add_s8_dsp(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

inline const char* why_not_add_dsp(const AddArgs& a) { return why_not_add_mve(a); }

// The same on cores with neither.
// Limits   why_not_add_scalar() is null
void add_s8_scalar(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

inline const char* why_not_add_scalar(const AddArgs& a) { return why_not_add_mve(a); }

}  // namespace deuteron
