// SPDX-License-Identifier: Apache-2.0
// The inner loop of a product of activations with the DSP extension: four rows of the first matrix
// meet two of the second, all widened to int16 with their offsets. Schedule:
// kernels/matmul/tile_dsp.S.
#pragma once
#include <cstdint>

#include "kernels/dense/dot_dsp.h"
#include "kernels/matmul/kernel.h"

namespace deuteron {

// Whether matmul_s8_dsp() goes by such tiles: that deuteron_tiles_dsp() serves the scale, and four
// rows and two have room beside others.
inline bool meets_dsp_tiles(const MatmulArgs& a) {
  constexpr int32_t kLongest = 160;
  return a.rows >= 4 && a.columns >= 2 && a.inner >= kDspQuad && a.inner <= kLongest &&
         a.multiplier >= 0 &&
         (a.shift == 0 ? a.multiplier < 1 << 30 : a.shift < 0 && a.shift >= -20);
}

// Rows of the first matrix lie as deuteron_widen_four_dsp() writes them, those of the second one as
// deuteron_widen_two_dsp() does.
struct DspTiles {
  const int16_t *rows, *pair, *pair_end;
  int32_t groups;  // of four rows, at least 1
  int8_t* y;       // two bytes of each row of the first group
  int32_t y_step;  // bytes of y from a row to the next
  int8_t* last_y;  // of the last group, whose rows may be some of the one before it
  int32_t multiplier, right, added;  // as those of DspRows (kernels/linear/rows_dsp.h)
};
extern "C" void deuteron_tiles_dsp(const DspTiles* a);

}  // namespace deuteron
