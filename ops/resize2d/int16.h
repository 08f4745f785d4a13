// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/resize2d/resize2d.h"

namespace deuteron {

Result<Lowered> int16_form(const Resize2d&, const LowerContext&);  // lowering.cpp
inline bool has_bits_of_tflite(const Resize2d&) { return true; }

}  // namespace deuteron
