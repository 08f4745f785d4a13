// SPDX-License-Identifier: Apache-2.0
// A reduction on int16 (ops/int16.h): of models that came so. Those of float models become layers
// and pools.
#pragma once
#include "ops/op.h"
#include "ops/reduce/reduce.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Reduce&, const LowerContext&);  // int16x8.cpp

}  // namespace deuteron
