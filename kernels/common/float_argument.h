// SPDX-License-Identifier: Apache-2.0
// A number of a call as float.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// An integer's only where it fits 32 bits, which a processor converts itself: the library's
// function for 64 is larger than a prepare(). Else NaN, which no check lets pass.
inline float float_argument(const Call& call, int i) {
  const Value& v = *call.args[i];
  if (v.kind == Kind::real) return static_cast<float>(v.real);
  if (v.kind == Kind::boolean) return v.boolean ? 1.0f : 0.0f;
  return v.integer == static_cast<int32_t>(v.integer)
             ? static_cast<float>(static_cast<int32_t>(v.integer))
             : __builtin_nanf("");
}

// Asked of the bits: on a core without a floating-point unit a comparison of floats is a call.
inline uint32_t float_bits(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline bool is_finite(float v) { return (float_bits(v) & INT32_MAX) < 0x7f800000; }
inline bool is_positive_finite(float v) { return float_bits(v) - 1 < 0x7f7fffff; }

}  // namespace deuteron
