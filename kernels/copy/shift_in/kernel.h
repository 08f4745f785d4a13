// SPDX-License-Identifier: Apache-2.0
// A state that keeps the last elements of a sequence takes new ones.
//   y[r] = x[r] without its first `fresh` bytes, then the fresh ones: y[r] = x[r][fresh..],
//   fresh[r]
// Shapes   x, y [rows, row], fresh [rows, fresh], in storage order without gaps
// Units    bytes of elements of any type
// Limits   fresh <= row Scratch  none   Errors  none   Aliasing  y may be x
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kShiftInColumns = 8;  // fresh bytes of a row up to which they come column
                                               // by column

struct ShiftInArgs {
  int32_t rows, row, fresh;
};

void shift_in(const ShiftInArgs& a, const int8_t* x, const int8_t* fresh, int8_t* y);

}  // namespace deuteron
