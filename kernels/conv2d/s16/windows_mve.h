// SPDX-License-Identifier: Apache-2.0
// The inner loops of int16 convolution with the M-profile Vector Extension: 4 filters against 2
// windows, or 8 against one, on weights packed as kernels/conv2d/s16/kernel.h says. Nothing is read
// behind the weights; windows are whole blocks. Sums wrap modulo 2^32. Schedules: windows_mve.S.
#pragma once
#include <cstdint>

namespace deuteron {

// Windows `step` bytes apart, two at a time; of an odd number the last one meets the filters twice.
struct MveS16Windows {
  const int16_t* x;
  int32_t step;
  int16_t* y;
  int32_t y_step;  // bytes of y from a window to the next
  const int8_t* packed;
  int32_t blocks, tiles;  // at least 1
  int32_t y_min, windows, y_max;
};
extern "C" void deuteron_s16_windows_mve(const MveS16Windows* a);

// One window, two tiles of filters at a time, `second` bytes apart.
struct MveS16Window {
  const int16_t* x;
  const int8_t* packed;
  int16_t* y;  // 8 elements for each pair of tiles
  int32_t blocks, pairs, second;
  int32_t y_min, y_max;
};
extern "C" void deuteron_s16_window_mve(const MveS16Window* a);

}  // namespace deuteron
