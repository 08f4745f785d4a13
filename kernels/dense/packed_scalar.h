// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear on weights packed as scalar_1x4
// (kernels/dense/packing.h), for cores with neither vectors nor the DSP extension. Windows are met
// in pairs: a word is an element of one window and 65536 times that of another, so that one product
// is two, and the products of two elements still fit halves of a word. Sums wrap modulo 2^32.
// Nothing is read beyond the operands. Schedules: kernels/dense/packed_scalar.S for Thumb-2,
// kernels/dense/packed_thumb1_scalar.S for Thumb-1.
#pragma once
#include <cstdint>

namespace deuteron {

// An element of two windows, as the loops for Thumb-2 want it.
inline int32_t pair_of(int32_t first, int32_t second) { return first + second * 65536; }

// Four windows: y[k][i] becomes the result of window k and filter i.
struct ScalarPackedWindows {
  const int32_t* x;      // for each element those of windows 0 and 1, then of 2 and 3
  const int8_t* packed;  // the filters
  const int8_t* shifts;  // null: they have none
  int32_t length;        // of a window, a multiple of four
  int32_t filters, y_zero;
  int8_t* y[4];  // of windows that are there to make four the same as of another
};
extern "C" void deuteron_packed_windows_scalar(const ScalarPackedWindows* a);

// One window as it lies in x, by fours of filters.
struct ScalarPackedWindow {
  const int8_t *x, *packed, *shifts;
  int32_t length,
      step;  // of the window; bytes from a filter to the next, or 0: it is the same four times
  int32_t filters, y_zero;
  int8_t* y;
};
extern "C" void deuteron_packed_window_scalar(
    const ScalarPackedWindow* a);  // filters divides by four

}  // namespace deuteron
