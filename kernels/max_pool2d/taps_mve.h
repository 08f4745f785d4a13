// SPDX-License-Identifier: Apache-2.0
// The maxima of windows side by side, for the M-profile Vector Extension.
#pragma once
#include <cstdint>

namespace deuteron {

// Windows that have the same taps inside. `at`, `y` and `left` go on to the last channels.
struct MveMaxima {
  const int8_t *at, *low;  // the first tap of the first window; 16 bytes of y_min
  int8_t* y;
  int32_t channels;  // bytes of y from a window to the next
  int32_t step;      // the same of x; 0 where there are no taps, then `at` is `low`
  int32_t windows;   // at least 1
  int32_t columns, taps;
  int32_t tap, to_next_row;  // from a tap to the next, and what else there is behind a row's last
  int32_t left, y_max;       // channels
};
extern "C" void deuteron_maxima_mve(MveMaxima* a);

}  // namespace deuteron
