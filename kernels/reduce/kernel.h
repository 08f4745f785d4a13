// SPDX-License-Identifier: Apache-2.0
// Sums of int8 slices, at a scale of their own.
//   y[o,i] = clamp(y_zero + requantize(sum over k of (x[o,k,i] - x_zero), multiplier, shift), low,
//   high)
// Shapes   x [outer, slice, inner]   y [outer, inner], in storage order without gaps
// Units    zero points and bounds in steps; multiplier, shift: x's scale / y's scale, of a mean
// divided by slice (kernels/integer/requantize.h) Limits   slice <= most_summed(shift): a sum,
// shifted left where shift is positive, and then y_zero more stays within int32 Scratch  none (256
// bytes of stack)   Errors  none   Aliasing  y overlaps nothing
#pragma once
#include <cstdint>

namespace deuteron {

struct SumArgs {
  int32_t outer, slice, inner;
  int32_t x_zero, y_zero;
  int32_t multiplier, shift;
  int32_t low, high;
};

// An element is at most 255 steps away from its zero point; y_zero is at least -128.
constexpr int64_t most_summed(int64_t shift) {
  return ((INT32_MAX - 128) >> (shift > 0 ? shift : 0)) / 255;
}

void sum_s8(const SumArgs& a, const int8_t* x, int8_t* y);

// The same with the M-profile Vector Extension; a scale of 1 or more is the portable kernel's.
void sum_s8_mve(const SumArgs& a, const int8_t* x, int8_t* y);
constexpr const char* why_not_sum_mve(const SumArgs& a) {
  return a.shift > 0 ? "a sum that is scaled up" : nullptr;
}

// The same with the DSP extension; fewer than 4 elements behind the slices, other than one, are
// left to the portable kernel.
void sum_s8_dsp(const SumArgs& a, const int8_t* x, int8_t* y);

// The same with neither.
void sum_s8_scalar(const SumArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
