// SPDX-License-Identifier: Apache-2.0
// A transposed convolution on int16 (ops/int16.h): of models that came so.
#pragma once
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const ConvTranspose2d&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
