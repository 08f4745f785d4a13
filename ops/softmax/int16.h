// SPDX-License-Identifier: Apache-2.0
// Softmax on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/softmax/softmax.h"

namespace deuteron {

Result<Lowered> int16_form(const Softmax&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Softmax&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
