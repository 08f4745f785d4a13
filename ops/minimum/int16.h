// SPDX-License-Identifier: Apache-2.0
// The minimum of two operands on int16 (ops/int16.h).
#pragma once
#include "ops/common/broadcast.h"
#include "ops/common/int16.h"
#include "ops/minimum/minimum.h"

namespace deuteron {

inline Result<Lowered> int16_form(const Minimum&, const LowerContext& c) {
  if (auto why = require_int16(c)) return *why;
  return extremum_call("deuteron::minimum_s16", c, "int16.minimum");
}
inline bool has_bits_of_tflite(const Minimum&) { return true; }

}  // namespace deuteron
