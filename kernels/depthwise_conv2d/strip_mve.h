// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 with the M-profile Vector Extension. A strip is one or more rows of the input for
// 16 channels, [row group][column][channel] and 4 rows as the 4 bytes of a word, so that the words
// of 4 neighbouring columns are a 4x4 patch of one channel: one vector, which VMLADAV multiplies
// with a kernel and adds up. With stride 1 a patch gives 2x2 outputs, with stride 2 four patches
// give 4 of a row. Windows of one row: a word holds 4 columns instead, of which the next one has
// two again, with stride 2 none; a patch of 16 columns gives 4 outputs of a row.
#pragma once
#include <cstdint>

#include "kernels/depthwise_conv2d/finish_mve.h"

namespace deuteron {

inline constexpr int32_t kStripChannels = 16,
                         kStripColumn = 4 * kStripChannels;  // bytes of a column

// Columns from four rows of pixels, `step` bytes apart in each; step 0: all from one. `channels` of
// 16 are read, the others become 0.
struct MveStripRows {
  const int8_t* row[4];
  int32_t step[4];
};
extern "C" int8_t* deuteron_fill_strip_mve(const MveStripRows* rows, int8_t* strip, int32_t columns,
                                           int32_t channels);  // behind the last

// All outputs of a strip, a channel after the other. A group: 2 columns and 2 rows (stride 1), 4
// columns (stride 2). Where the width is no multiple, one more group comes first and the next one
// starts inside it.
struct MveDepthwise {
  const int8_t* strip;
  const int8_t* weight;  // for each channel 3 columns of 3 rows and a zero, then 4 zeros; there are
                         // 5 zeros before the first. Of one row: 16 that end with 3 zeros,
                         // with stride 2 with 6; as many stand before the first
  const MveChannelFinish* finish;
  int8_t* y;
  int32_t channels;
  int32_t group_y, groups;  // bytes of y from a group to the next
  int32_t first;            // not 0: there is a group more
  int32_t rows, next_y;  // row groups; bytes of y from behind the last group to the next row group
  const int32_t *gather, *scatter;  // of 4 columns in the strip, less 128; of 4 outputs in y
  int32_t first_y, first_strip;  // bytes from the first group to the second in y; by how many less
                                 // than a group in the strip
  int32_t y_min, y_max;
  // Stride 1, and of one row any: bytes of a patch, and so of weights, from the first output to the
  // second and to the third; the fourth is both behind it.
  int32_t second, third;
};
extern "C" void deuteron_depthwise_s1_mve(const MveDepthwise* a);
extern "C" void deuteron_depthwise_s2_mve(const MveDepthwise* a);

}  // namespace deuteron
