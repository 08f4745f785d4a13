// SPDX-License-Identifier: Apache-2.0
// Multiplication on int16 (ops/int16.h).
#pragma once
#include "ops/mul/mul.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Mul&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Mul&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
