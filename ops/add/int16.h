// SPDX-License-Identifier: Apache-2.0
// Addition on int16 (ops/int16.h).
#pragma once
#include "ops/add/add.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Add&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Add&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
