// SPDX-License-Identifier: Apache-2.0
// The maximum of two operands on int16 (ops/int16.h).
#pragma once
#include "ops/common/broadcast.h"
#include "ops/common/int16.h"
#include "ops/maximum/maximum.h"

namespace deuteron {

inline Result<Lowered> int16_form(const Maximum&, const LowerContext& c) {
  if (auto why = require_int16(c)) return *why;
  return extremum_call("deuteron::maximum_s16", c, "int16.maximum");
}
inline bool has_bits_of_tflite(const Maximum&) { return true; }

}  // namespace deuteron
