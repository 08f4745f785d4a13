// SPDX-License-Identifier: Apache-2.0
// The inner loop of linear with the DSP extension: one window, widened to int16 with the offset of
// the input added, meets three rows of weights at a time as they lie in the file. Sums wrap modulo
// 2^32, results saturate. Nothing is read beyond the operands. Schedule: kernels/linear/rows_dsp.S.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kRowsAtOnce = 3, kRowsStep = 8;  // rows of weights, and elements of them

// The window lies as pairs: for each four elements e0 and e2, then e1 and e3.
struct DspRows {
  const int16_t* x;      // 4-aligned
  int32_t left_out;      // elements behind those of a row that are met
  const int32_t* first;  // of each row
  int8_t* y;
  // Results are added + sum * multiplier / 2^32 to nearest, where `right` is 0: the multiplier is
  // twice that of the call. Else they are (added + sum * multiplier / 2^31 - (sum < 0)) >> right,
  // and what leaves +-2^30 saturates.
  int32_t multiplier, right;
  int32_t row_step;          // from a row to the next: length + left_out, both multiples of 8
  const int32_t* first_end;  // behind those of the rows, which are a multiple of three
  int32_t added;
  const int8_t* weight;  // 4-aligned
  int32_t length;        // elements that are met, at least 8
};
extern "C" void deuteron_rows_dsp(const DspRows* a);

// Widens `eights` times eight elements so; `offset` in both halves.
extern "C" void deuteron_widen_row_dsp(const int8_t* x, int32_t eights, int16_t* to,
                                       uint32_t offset);

}  // namespace deuteron
