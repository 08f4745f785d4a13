// SPDX-License-Identifier: Apache-2.0
// Gathering on int16 (ops/int16.h).
#pragma once
#include "ops/gather/gather.h"
#include "ops/op.h"

namespace deuteron {

// The kernel moves elements of any width.
inline Result<Lowered> int16_form(const Gather& a, const LowerContext& c) {
  return def_of(a).cortex_m(a, c);
}
inline bool has_bits_of_tflite(const Gather&) { return true; }

}  // namespace deuteron
