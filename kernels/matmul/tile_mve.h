// SPDX-License-Identifier: Apache-2.0
// The inner loop of a product of activations with the M-profile Vector Extension: eight rows of the
// second matrix meet two of the first at a time. Schedule: kernels/matmul/tile_mve.S.
#pragma once
#include <cstdint>

#include "kernels/matmul/kernel.h"

namespace deuteron {

inline constexpr int32_t kMveColumns = 8;      // rows of the second matrix, columns of the result
inline constexpr int32_t kMveShort = 32;       // elements that two rows are padded to, or
inline constexpr int32_t kMveLong = 64;        // these
inline constexpr int32_t kMveRecordTail = 12;  // bytes behind the elements of two rows

inline constexpr int32_t kMveRowsOfTiles = 6;  // for fewer, columns are not rearranged
// Whether matmul_s8_mve() goes by such tiles.
inline bool meets_mve_tiles(const MatmulArgs& a) {
  return a.rows >= kMveRowsOfTiles && a.columns >= kMveColumns && a.inner >= 1 &&
         a.inner <= kMveLong && a.shift == 0;
}

// Two rows of the first matrix: 16 elements of one, 16 of the other, and so on, and behind them, as
// words, what is added to the sums of each, and the bytes of y from the second row to the first of
// the next record; -1: this is the last. Before the first record stands such a tail of its own,
// whose last word is -y_step. Results: y_zero + the sum's product with the multiplier, which has no
// shift.
struct MveProduct {
  const int8_t* rows;     // from the last word of that tail on
  const int8_t* columns;  // kMveColumns rows of `inner` elements
  int8_t* y;
  int32_t inner;  // 1..kMveLong; records have kMveShort elements where that suffices
  int32_t x_offset, multiplier;
  int32_t y_step;  // bytes of a row of y
  int32_t y_zero;
};
extern "C" void deuteron_product_mve(const MveProduct* a);

}  // namespace deuteron
