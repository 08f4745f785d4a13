// SPDX-License-Identifier: Apache-2.0
// Maximum pooling on int16 (ops/int16.h).
#pragma once
#include "ops/max_pool2d/max_pool2d.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const MaxPool2d&, const LowerContext&);
inline bool has_bits_of_tflite(const MaxPool2d&) { return true; }

}  // namespace deuteron
