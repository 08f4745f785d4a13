// SPDX-License-Identifier: Apache-2.0
// Average pooling on int16 (ops/int16.h).
#pragma once
#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const AvgPool2d&, const LowerContext&);
inline bool has_bits_of_tflite(const AvgPool2d&) { return true; }

}  // namespace deuteron
