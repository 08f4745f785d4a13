// SPDX-License-Identifier: Apache-2.0
// Concatenation on int16 (ops/int16.h).
#pragma once
#include "ops/concat/concat.h"
#include "ops/op.h"

namespace deuteron {

// The kernel moves elements of any width.
inline Result<Lowered> int16_form(const Concat& a, const LowerContext& c) {
  return def_of(a).cortex_m(a, c);
}
inline bool has_bits_of_tflite(const Concat&) { return true; }

}  // namespace deuteron
