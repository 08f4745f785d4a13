// SPDX-License-Identifier: Apache-2.0
// Any function of one int8 value, as a table: y[i] = table[x[i] + 128].
// Shapes   x, y [count]   table [256]
// Scratch  none   Errors  none   Aliasing  y may be x   Source  ExecuTorch 1.5,
// cortex_m::quantized_activation
#pragma once
#include <cstdint>

namespace deuteron {

void lookup_s8(int32_t count, const int8_t* table, const int8_t* x, int8_t* y);

// The same with the M-profile Vector Extension.
void lookup_s8_mve(int32_t count, const int8_t* table, const int8_t* x, int8_t* y);

}  // namespace deuteron
