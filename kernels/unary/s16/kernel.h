// SPDX-License-Identifier: Apache-2.0
// Any function of one int16 value, as a table of 513 entries with straight lines between them.
//   k = (x[i] >> 7) + 256, part = x[i] & 127
//   y[i] = table[k] + ((table[k+1] - table[k]) * part + 64 >> 7)
// Shapes   x, y [count]   table [513]
// Limits   none: results lie between two entries
// Scratch  none   Errors  none   Aliasing  y may be x   Source  TFLite's lookup of int16
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kLookupS16Entries = 513, kLookupS16Steps = 128;

void lookup_s16(int32_t count, const int16_t* table, const int16_t* x, int16_t* y);

}  // namespace deuteron
