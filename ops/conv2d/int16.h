// SPDX-License-Identifier: Apache-2.0
// Convolution on int16 (ops/int16.h).
#pragma once
#include "ops/conv2d/conv2d.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Conv2d&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Conv2d&, const LowerContext&);  // int16x8.cpp
// Of a convolution on int8 whose result is int16. A few taps of a channel cost the same with int16
// weights.
inline DType int16_result_weights(const Conv2d& a) { return a.groups > 1 ? DType::s16 : DType::s8; }

}  // namespace deuteron
