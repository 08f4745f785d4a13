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

// A group: 2 columns and 2 rows of outputs (stride 1), 4 columns (stride 2, and of one row). Where
// the width is no multiple, the first group of a row reaches into the second.
struct MvePatch {
  int32_t to;    // of the group two before this one: bytes from y to its first output
  int32_t from;  // bytes from the strip to its patch, or to the first of four, 128 bytes apart
};

// The groups of a strip, or of columns. In bytes of it: from a row group to the next, and from a
// group to the next one and from the first one, where that is narrower than the others.
struct PatchSteps {
  int32_t row, group, first;
};
inline void list_patches(MvePatch* p, int32_t rows, int32_t width, int32_t group, PatchSteps step,
                         int32_t channels, int32_t row_y) {
  const int32_t rest = width % group;
  for (int32_t from = 0, to = 0; rows > 0; --rows, from += step.row, to += row_y) {
    int32_t next = rest > 0 ? rest : group, patch = from;
    for (int32_t done = 0; done < width; done += next, next = group, ++p) {
      p->from = patch, p[2].to = to + done * channels;
      patch += done == 0 && rest > 0 ? step.first : step.group;
    }
  }
}

// All outputs of a strip, a channel after the other.
struct MveDepthwise {
  const int8_t* strip;
  const int8_t* weight;  // for each channel 3 columns of 3 rows and a zero, then 4 zeros; there are
                         // 5 zeros before the first. Of one row: 16 that end with 3 zeros,
                         // with stride 2 with 6; as many stand before the first
  const MveChannelFinish* finish;
  int8_t* y;
  const int32_t *gather, *scatter;  // of 4 columns in the strip; of 4 outputs in y
  int32_t y_min, y_max, channels;
  // Stride 1, and of one row any: bytes of a patch, and so of weights, from the first output to the
  // second and to the third; the fourth is both behind it.
  int32_t second, third;
  const MvePatch* patches;  // of all groups, and two more
  int32_t further;          // groups behind the first
};
extern "C" void deuteron_depthwise_s1_mve(const MveDepthwise* a);
extern "C" void deuteron_depthwise_s2_mve(const MveDepthwise* a);

}  // namespace deuteron
