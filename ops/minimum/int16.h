// SPDX-License-Identifier: Apache-2.0
// The minimum of two operands on int16 (ops/int16.h).
#pragma once
#include "ops/common/broadcast.h"
#include "ops/common/int16.h"
#include "ops/minimum/minimum.h"

namespace deuteron {

inline Result<Lowered> int16_form(const Minimum&, const LowerContext& c) {
  for (const Type* t : {&c.in[0], &c.in[1], &c.out[0]})
    if (auto why = require_int16(*t)) return *why;
  return extremum_call("deuteron::minimum_s16", c, "int16.minimum");
}
inline bool has_bits_of_tflite(const Minimum&) { return true; }

}  // namespace deuteron
