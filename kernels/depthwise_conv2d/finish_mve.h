// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of depthwise channels with the M-profile Vector Extension.
#pragma once
#include <cstdint>

#include "kernels/depthwise_conv2d/kernel.h"

namespace deuteron {

// How the sums of a channel become bytes. A `shift` of 0 or below: first, multiplier and shift are
// the channel's, `added` is the zero point of y, and the loop has instructions for any bounds.
// Above 0: the product gets `added`, which is the zero point and one half before the shift to the
// right, and is then brought to the top byte by `shift` to the left, which saturates. 256 more:
// halves go away from zero, for which what is negative loses one first.
struct MveChannelFinish {
  int32_t added, first, multiplier, shift;
};

// Four channels at a time: of `taps` and `to` up to three behind the last are read and written.
struct MveFinishes {
  const int8_t* taps;  // of each channel 16 bytes, or 64 where `is_wide`
  const int32_t *bias, *multiplier, *shift;
  MveChannelFinish* to;
  int32_t count, x_offset, is_wide;
  int32_t left;   // added to a shift that is not 0
  int32_t above;  // shifts above it are brought to the top byte, where neither product nor `added`
                  // passes 2^30
  int32_t y_zero, zero_and_half;  // twice y_zero, and 1
};
extern "C" void deuteron_finishes_mve(const MveFinishes* a);

// `count` channels from c on. Only int8's own bounds are those of the top byte. Where the zero
// point is -128 what is negative becomes -128 however it is rounded, and a shift of 0 rounds
// nothing.
inline void fill_finishes(const DepthwiseConv2dArgs& a, const int32_t* bias, int32_t c,
                          int32_t count, const int8_t* taps, bool is_wide, MveChannelFinish* to) {
  constexpr int32_t kTopByte = 24, kAwayFromZero = 256;
  const bool is_whole = a.y_min == -128 && a.y_max == 127;
  const MveFinishes f{taps,
                      bias ? bias + c : nullptr,
                      a.multiplier + c,
                      a.shift + c,
                      to,
                      count,
                      a.x_offset,
                      is_wide,
                      a.y_zero == -128 ? kTopByte : kTopByte + kAwayFromZero,
                      is_whole ? -kTopByte : INT32_MAX,
                      a.y_zero,
                      2 * a.y_zero + 1};
  deuteron_finishes_mve(&f);
}

}  // namespace deuteron
