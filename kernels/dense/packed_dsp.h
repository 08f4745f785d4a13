// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear on weights packed as dsp_4x4 (kernels/dense/packing.h):
// 4 filters against 2 windows, or against one. Windows are widened as kernels/dense/dot_dsp.h
// says, without an offset. Nothing is read beyond the operands. Schedules and the proof:
// kernels/dense/packed_dsp.inc.
#pragma once
#include <cstdint>

namespace deuteron {

struct DspPackedWindows {
  const int16_t* x;
  int32_t quads;  // of each window, at least 1
  const int8_t *packed, *packed_end;
  int8_t *y0, *y1;  // 4 bytes a tile; the same where there is one window
  int32_t y_zero;
  const int8_t* shifts;  // of the filters, then multipliers are not doubled; null: there are none
};
extern "C" void deuteron_packed_windows_dsp(const DspPackedWindows* a);

// Two windows of three rows of nine bytes each, `row_step` bytes apart, to seven quads, the last
// one with the elements 23..26.
extern "C" void deuteron_widen_nines_dsp(const int8_t* a, const int8_t* b, int32_t row_step,
                                         int16_t* to);

// One window.
struct DspPackedWindow {
  const int16_t* x;
  int32_t quads;  // at least 1
  const int8_t *packed, *packed_end;
  int8_t* y;  // 4 bytes a tile
  int32_t y_zero;
  const int8_t* shifts;  // of the filters, then multipliers are not doubled; null: there are none
  int32_t left_out;      // bytes of each tile's weights behind those of `quads`
};
extern "C" void deuteron_packed_window_dsp(const DspPackedWindow* a);

}  // namespace deuteron
