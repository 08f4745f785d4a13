// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution, linear and matrix product with the M-profile Vector Extension: 4
// filters against 2 windows, or against one. The weights are read as they lie in the file, a filter
// after the other; nothing is read behind them, nor behind the windows. Sums wrap modulo 2^32, as
// in the portable kernels; the results are the same, bit for bit. Schedules:
// kernels/dense/dot_mve.S.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMveBlock = 16;  // elements of a vector of int8
inline constexpr int32_t kMveTile = 4;    // filters that meet a window together

// What becomes of a tile's four sums: y = clamp(zero + requantize(sum + first, multiplier, shift)),
// shift <= 0.
struct MveTileRescale {
  int32_t first[kMveTile], multiplier[kMveTile], shift[kMveTile];
};

// Two windows, in turns of a block each: 16 elements of the first, 16 of the second, and so on;
// whatever follows the last element up to the next block is read and does not count. `length`
// elements each, and weight rows of as many, `row_step` bytes apart. The sums are those of the int8
// values as they are: what x_offset adds is in MveTileRescale::first.
struct MveDot2x4 {
  const int8_t *x, *weight;
  int32_t length, row_step;
  const MveTileRescale* rescale;  // [tiles]
  int8_t *y0, *y1;  // 4 bytes a tile for each window; y0 == y1 where there is only one
  int32_t tiles, y_zero, y_min, y_max;
  int32_t is_shifted;            // 0: every shift is 0
  int32_t more0 = 0, more1 = 0;  // added to the sums of each window
};
extern "C" void deuteron_dot_2x4_mve(const MveDot2x4* a);

// One window as it lies. The sum of each filter is found on the way: first[o] + x_offset * (sum of
// weight[o]) + more is added to its sum.
struct MveDot1x4 {
  const int8_t *x, *weight;
  int32_t length, row_step;
  const int32_t *first, *multiplier, *shift;
  int32_t x_offset, more;
  int8_t* y;
  int32_t tiles, y_zero, y_min, y_max;
  int32_t is_shifted;  // 0: every shift is 0
};
extern "C" void deuteron_dot_1x4_mve(const MveDot1x4* a);

// Two windows in turns of a block: `rows` rows of `blocks` blocks each, row_step bytes apart.
extern "C" void deuteron_interleave_mve(const int8_t* a, const int8_t* b, int32_t blocks,
                                        int8_t* to, int32_t rows, int32_t row_step);

}  // namespace deuteron
