// SPDX-License-Identifier: Apache-2.0
// Padding on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/pad/pad.h"

namespace deuteron {

Result<Lowered> int16_form(const Pad&, const LowerContext&);
inline bool has_bits_of_tflite(const Pad&) { return true; }

}  // namespace deuteron
