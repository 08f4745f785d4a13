// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear on weights packed as mve_4x16
// (kernels/dense/packing.h): 4 filters against 2 windows, or 8 against one. Nothing is read behind
// the weights; a window is read in whole blocks, and what lies behind its last element does not
// count. Sums wrap modulo 2^32, results saturate. Schedules: kernels/dense/packed_mve.inc.
#pragma once
#include <cstdint>

namespace deuteron {

// Windows that lie as they are wanted, `step` bytes apart, two at a time; of an odd number the last
// one meets the filters twice.
struct MvePackedWindows {
  const int8_t* x;
  int32_t step;
  int8_t* y;
  int32_t y_step;  // bytes of y from a window to the next
  const int8_t* packed;
  int32_t blocks, tiles;  // at least 1
  int32_t y_zero, windows;
  const int8_t* shifts;  // of the filters; null: there are none
};
extern "C" void deuteron_packed_windows_mve(const MvePackedWindows* a);

// One window, two tiles of filters at a time, `second` bytes apart. Its last block lies by itself,
// where all 16 bytes may be read.
struct MvePackedWindow {
  const int8_t *x, *last, *packed;
  int8_t* y;       // 8 bytes for each pair of tiles
  int32_t blocks;  // before the last
  int32_t pairs, second, y_zero;
  const int8_t* shifts;  // of all filters; null: there are none
};
extern "C" void deuteron_packed_window_mve(const MvePackedWindow* a);

// The same behind a relu: what meets the filters are x + 128 and weights + 128 (behind_relu() of
// packing.h), both from 0 to 255.
struct MvePackedActive {
  const int8_t *x, *last, *packed;
  int8_t* y;
  int32_t blocks;
  int32_t pairs, second, y_zero;
  const int8_t* shifts;
  int32_t left_out;  // bytes of each tile's weights behind those of the last block
  int32_t more;      // added to all sums: -128 times the sum of the window
};
extern "C" void deuteron_packed_active_mve(const MvePackedActive* a);

// The same with int16 results (kernels/conv2d/s8_s16/kernel.h): sums are shifted left before they
// meet the multipliers, results clamped.
struct MvePackedWindowsS16 {
  const int8_t* x;
  int32_t step;
  int16_t* y;
  int32_t y_step;  // bytes, as above
  const int8_t* packed;
  int32_t blocks, tiles;
  int32_t y_min, windows, shift, y_max;
};
extern "C" void deuteron_packed_windows_s16_mve(const MvePackedWindowsS16* a);

struct MvePackedWindowS16 {
  const int8_t *x, *last, *packed;
  int16_t* y;
  int32_t blocks, pairs, second, y_min, shift, y_max;
};
extern "C" void deuteron_packed_window_s16_mve(const MvePackedWindowS16* a);

}  // namespace deuteron
