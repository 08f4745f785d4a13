// SPDX-License-Identifier: Apache-2.0
// A matrix product on int16 (ops/int16.h).
#pragma once
#include "ops/matmul/matmul.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Matmul&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Matmul&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
