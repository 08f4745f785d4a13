// SPDX-License-Identifier: Apache-2.0
// A window of a depthwise convolution, a tap after the other, with the M-profile Vector Extension.
#pragma once
#include <cstdint>

namespace deuteron {

// The taps of a window that lie inside the image, of `channels`. In bytes: `step` from a pixel to
// the next tap's, `filter_step` from a tap's weights to the next ones; both `row` from a row to the
// next.
struct MveTaps {
  const int8_t *x, *filter;  // of the first tap
  int8_t* y;
  const int32_t *bias, *multiplier, *shift;  // bias may be null
  const uint16_t* others;  // null: each channel reads its own; else of up to 8 those they read
  int32_t channels;
  int32_t rows, taps;  // taps of a row, at least one where there are rows
  int32_t step, filter_step, row, filter_row;
  int32_t x_offset, y_zero, y_min, y_max;
};
extern "C" void deuteron_taps_mve(const MveTaps* a);

}  // namespace deuteron
