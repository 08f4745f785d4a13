// SPDX-License-Identifier: Apache-2.0
// int8 minimum and maximum of two tensors that share scale and zero point, each broadcast to the
// result.
//   y[i0,..] = min(x[i0,..], other[i0,..]), or max
// Shapes   extent[] and steps[] of the result's dimensions, outermost first in memory; y has no
// gaps. x_step[k], other_step[k] is what one
//          step of dimension k moves in x and in other: 0 where the operand is broadcast
// Limits   1 <= rank <= 16; neighbouring dimensions are best merged: prepare() does that
// Scratch  none   Errors  none   Aliasing  y may be an operand whose steps are those of y; else y
// overlaps nothing Source   numpy broadcasting; ExecuTorch 1.5, cortex_m::minimum,
// cortex_m::maximum
#pragma once
#include <cstdint>

#include "runtime/kernel.h"

namespace deuteron {

struct ExtremumArgs {
  int32_t rank;
  int32_t extent[kMaxRank], x_step[kMaxRank], other_step[kMaxRank];
};

void minimum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void maximum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// The same with the M-profile Vector Extension, with the DSP extension, and without both.
void minimum_s8_mve(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void maximum_s8_mve(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void minimum_s8_dsp(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void maximum_s8_dsp(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void minimum_s8_scalar(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void maximum_s8_scalar(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

}  // namespace deuteron
