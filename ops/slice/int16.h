// SPDX-License-Identifier: Apache-2.0
// Slicing on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/slice/slice.h"

namespace deuteron {

// The kernel moves elements of any width.
inline Result<Lowered> int16_form(const Slice& a, const LowerContext& c) {
  return def_of(a).cortex_m(a, c);
}
inline bool has_bits_of_tflite(const Slice&) { return true; }

}  // namespace deuteron
