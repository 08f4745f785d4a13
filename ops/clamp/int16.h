// SPDX-License-Identifier: Apache-2.0
// A clamp, or a change of steps, on int16 (ops/int16.h).
#pragma once
#include "ops/clamp/clamp.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Clamp&, const LowerContext&);
Result<Lowered> tflite_int16_form(const Clamp&, const LowerContext&);

}  // namespace deuteron
