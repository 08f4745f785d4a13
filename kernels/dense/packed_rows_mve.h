// SPDX-License-Identifier: Apache-2.0
// The inner loop of convolution on weights packed as mve_4x16 (kernels/dense/packing.h) for windows
// three columns wide, one column from each to the next: four windows against the four filters of a
// tile. Sums wrap modulo 2^32, results saturate. Schedule: kernels/dense/packed_rows_mve.inc.
#pragma once
#include <cstdint>

namespace deuteron {

// x: from a block of 16 elements to that of the next column 16 bytes, to the column's next one
// `pitch`, which is 96 or more. Nothing is read but the blocks of the windows and the weights.
struct MvePackedRows {
  const int8_t* x;
  int32_t pitch;
  int8_t* y;
  int32_t y_step;  // bytes of y from a window to the next
  const int8_t* packed;
  int32_t rows;   // blocks of a column, a multiple of three
  int32_t tiles;  // at least 1
  int32_t y_zero;
  int32_t fours;         // of windows, at least 1
  const int8_t* shifts;  // of the filters; null: there are none
};
extern "C" void deuteron_packed_rows_mve(const MvePackedRows* a);

}  // namespace deuteron
