// SPDX-License-Identifier: Apache-2.0
// Which depthwise windows the kernel for MVE serves as columns of taps (columns_mve.h), and how
// many at once. Needs no vectors: what calls cost is asked here too.
#pragma once
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/image/window.h"

namespace deuteron {

inline constexpr int32_t kColumnChannels = 8, kColumnTaps = 64;
inline constexpr int32_t kGroupBytes = 8;  // of an MvePatch
// Bytes of a strip's column, and of its groups, of which two columns have one at most.
inline constexpr int32_t kColumnBytes = 64 + kGroupBytes / 2, kMorePatches = 2 * kGroupBytes;
// where the scratch has no room: 2.1 KB
inline constexpr int32_t kStackStrip = 32 * kColumnBytes + kMorePatches;

// A column has room for the rows of a few windows below one another, where vectors have lanes for
// them: the taps that a window does not see are 0. Its height is even where that fits: then two
// rows are filled at a time.
struct ColumnsPlan {
  int32_t taps, vectors;         // vectors: that hold a window's taps
  int32_t rows = 0, height = 0;  // of windows; of a column
  int32_t windows = 0, channel_bytes = 0;

  // In so many bytes for columns and groups.
  ColumnsPlan(const DepthwiseConv2dArgs& a, int32_t bytes)
      : taps(a.kernel_h * a.kernel_w), vectors(taps <= 32 ? 2 : 4) {
    // a step of so many columns would not fit int32
    if (taps > kColumnTaps || a.stride_w > kMaxReach / kColumnTaps) return;
    const int32_t fit = 16 * vectors / a.kernel_w, even = fit & -2;
    const int32_t most = even < a.kernel_h ? fit : even;
    const int32_t below = a.dilation_h == 1 ? (most - a.kernel_h) / a.stride_h + 1 : 1;
    rows = below < a.out_h ? below : a.out_h;
    height = a.kernel_h + (rows - 1) * a.stride_h;
    if (most == even) height = (height + 1) & -2;
    // the next window's first vector is read
    const int32_t step = a.stride_w * height, first = (a.kernel_w - a.stride_w) * height,
                  behind = step + 16 * vectors;
    const int32_t group = kGroupBytes * rows;
    windows = (bytes - kColumnChannels * (first + behind) - group - kGroupsMore) /
              (kColumnChannels * step + group / 4);
    windows = windows >= a.out_w ? a.out_w : windows & -4;
    channel_bytes = first + windows * step + behind;
  }

  // Whether the call has its form.
  bool serves(const DepthwiseConv2dArgs& a) const {
    if (a.x_offset < -127 || a.x_offset > 128 || windows < 4) return false;
    return a.dilation_w == 1 || a.kernel_w == 1;
  }

  // About how many instructions 8 channels of a row of outputs take. serves() holds.
  int32_t instructions(const DepthwiseConv2dArgs& a) const {
    const int32_t parts = (a.out_w + windows - 1) / windows,
                  copied = height / 2 * (8 * windows * a.stride_w + 50);
    return parts * (((70 * kColumnChannels + copied) / rows) +
                    kColumnChannels * (windows + 3) / 4 * (12 + 8 * vectors));
  }

 private:
  // Of two groups more, and of what a row of windows has less than four of.
  static constexpr int32_t kGroupsMore = 2 * kGroupBytes + 4;
};

// About how many instructions 8 channels of a row of outputs take a tap after the other.
inline int32_t taps_instructions(const DepthwiseConv2dArgs& a) {
  return a.out_w * (10 * a.kernel_h * a.kernel_w + 90);
}

// The same of one input channel, as a convolution: two windows meet four filters in a tile; windows
// that reach into the padding are gathered byte by byte.
inline int32_t one_channel_instructions(const DepthwiseConv2dArgs& a) {
  constexpr int32_t kBlock = 16, kTile = 4;
  const int32_t blocks = (a.kernel_h * a.kernel_w + kBlock - 1) / kBlock, pairs = (a.out_w + 1) / 2;
  const int32_t gathered =
      pairs * (25 + 30 * a.kernel_h) + (a.pad_w > 0 ? 2 * (500 + 30 * a.kernel_h) : 0);
  const int32_t tiles = pairs * ((a.out_c + kTile - 1) / kTile) * (80 + 15 * blocks);
  return (gathered + tiles) / ((a.out_c + kColumnChannels - 1) / kColumnChannels);
}

inline bool is_alone(const DepthwiseConv2dArgs& a, int32_t scratch_bytes) {
  const int64_t filters = int64_t{a.kernel_h} * a.kernel_w * a.out_c;
  return a.in_c == 1 && a.out_c > 1 && filters <= scratch_bytes && a.x_offset >= -127 &&
         a.x_offset <= 128;
}

}  // namespace deuteron
