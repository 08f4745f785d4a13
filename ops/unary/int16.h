// SPDX-License-Identifier: Apache-2.0
// A function of one element on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/unary/unary.h"

namespace deuteron {

Result<Lowered> int16_form(const Unary&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Unary&, const LowerContext&);

}  // namespace deuteron
