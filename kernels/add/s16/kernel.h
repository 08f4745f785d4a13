// SPDX-License-Identifier: Apache-2.0
// int16 addition of two tensors with their own scales, exact in int32 before it is rounded once.
//   y[i] = clamp((x[i] * x_factor + other[i] * other_factor + 2^(shift-1)) >> shift, y_min, y_max)
// Shapes   x, other, y [count]
// Units    all have zero point 0; factors -65535..65535; shift 1..30; y_min, y_max -32768..32767
// Limits   32768 * (|x_factor| + |other_factor|) + 2^(shift-1) < 2^31, so that nothing leaves
// int32: why_not_add_s16() is null Scratch  none   Errors   none   Aliasing  y may be x or other
// Source  docs/precision.md
#pragma once
#include <cstdint>

namespace deuteron {

struct AddS16Args {
  int32_t count;
  int32_t x_factor, other_factor, shift;
  int32_t y_min, y_max;
};

// Null where the sum stays within int32, else why it may not.
inline const char* why_not_add_s16(int64_t x_factor, int64_t other_factor, int64_t shift) {
  if (x_factor < -65535 || x_factor > 65535 || other_factor < -65535 || other_factor > 65535)
    return "is out of range";
  const int64_t sum =
      (x_factor < 0 ? -x_factor : x_factor) + (other_factor < 0 ? -other_factor : other_factor);
  return shift < 1 || shift > 30 || 32768 * sum + (int64_t{1} << (shift - 1)) > INT32_MAX
             ? "lets the sum leave int32"
             : nullptr;
}

void add_s16(const AddS16Args& a, const int16_t* x, const int16_t* other, int16_t* y);

// The same with the M-profile Vector Extension.
void add_s16_mve(const AddS16Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
