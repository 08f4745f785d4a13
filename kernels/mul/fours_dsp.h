// SPDX-License-Identifier: Apache-2.0
// The inner loops of multiplication with the DSP extension, four elements at a time.
#pragma once
#include <cstdint>

namespace deuteron {

// Results are (added + product * multiplier / 2^32 - (product < 0)) >> right, saturated, of twice
// the product of two differences.
struct DspFours {
  const int8_t* x;
  int8_t* y;
  const int8_t* other;
  const int8_t* end;  // of y
  // -2 * other_zero and -x_zero, in both halves
  uint32_t offset;
  const int8_t* next;  // of x, behind the first row
  int32_t right;
  uint32_t x_offset;
  int32_t added, multiplier, period;
};
// Element for element.
extern "C" void deuteron_mul_row_dsp(const DspFours* a);
// The same four of `other` for all rows, which are `period` apart; then the next four.
extern "C" void deuteron_mul_rows_dsp(const DspFours* a);

}  // namespace deuteron
