// SPDX-License-Identifier: Apache-2.0
// Division on int16 (ops/int16.h): of models that came so.
#pragma once
#include "ops/div/div.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Div&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
