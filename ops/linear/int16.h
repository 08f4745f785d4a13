// SPDX-License-Identifier: Apache-2.0
// A linear layer on int16 (ops/int16.h).
#pragma once
#include "ops/linear/linear.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Linear&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Linear&, const LowerContext&);  // int16x8.cpp
// Of a layer on int8 whose result is int16.
inline DType int16_result_weights(const Linear&) { return DType::s8; }

}  // namespace deuteron
