// SPDX-License-Identifier: Apache-2.0
// How the M-profile Vector Extension copies the columns of taps that windows of a convolution share
// (kernels/conv2d/packed/windows_mve.h).
#pragma once
#include <arm_mve.h>

#include "kernels/conv2d/packed/kernel.h"

namespace deuteron {

// How pixels go to the columns of taps.
struct Columns {
  const PackedConv2dArgs& a;
  int32_t column;      // bytes from a column to the next
  int32_t row, block;  // from a row of taps to the next, and from a block of 16 channels
  int32_t next;        // bytes of x from a pixel to the next
  int32_t together;    // pixels of fewer than 16 channels that one vector holds
  uint8x16_t places;   // where its bytes go
  int8x16_t outside;   // no gap before the vectors: gcc would clear it with memset
};

// `columns` columns of taps from row ih, column iw of the image on, which may lie outside.
extern "C" void deuteron_fill_columns_mve(const Columns* k, const int8_t* image, int32_t ih,
                                          int32_t iw, int32_t columns, int8_t* to);

}  // namespace deuteron
