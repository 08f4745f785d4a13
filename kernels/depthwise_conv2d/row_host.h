// SPDX-License-Identifier: Apache-2.0
// A row of depthwise results, on the host. The instruction set is chosen at run time. The bits are
// those of the portable kernels.
//
// The results of a row are one list, channels of windows side by side, and so is what a tap reads
// for them. Vectors lie over that list, however few channels there are. Elements of several taps
// are put side by side, so that one instruction multiplies and adds them: four taps for VPDPBUSD
// (AVX-512 VNNI, elements with 128 added), two for VPMADDWD (AVX2). That leaves sums in another
// order within a block of the list; what is multiplied with them stands in the same order, and
// packing to int8 undoes it.
#pragma once
#include "kernels/common/host_kernels.h"

namespace deuteron {

inline constexpr int32_t kHostBlock = 64;  // elements of a list
inline constexpr int32_t kHostGroupBytes = kHostBlock * 4;

// Of each sum of a block, before its weights: requantize() with a multiplier that is not negative.
// In a plain row no sum has a shift and every multiplier is less than 2^30; these stand here twice
// as large, and have the quotient in the upper half of their product.
//   left   max(shift, 0)   right_but_one max(-shift - 1, 0)   halves  1 where shift < 0, else 0
struct HostBlockNumbers {
  int32_t first[kHostBlock], multiplier[kHostBlock];
  int32_t next_multiplier[kHostBlock];  // of the sum behind it
  int32_t left[kHostBlock], right_but_one[kHostBlock], halves[kHostBlock];
};

// Blocks lie behind one another: HostBlockNumbers, then for each group of taps kHostGroupBytes of
// weights, 4 bytes for each sum.
//   sum[e] = first[e] + sum over taps t of (taps[t][e] + added) * weight[t][e], modulo 2^32
//   y[e] = clamp(zero + requantize(sum[e]), min, max)
struct HostRow {
  const int8_t* blocks;  // 64-aligned; element e has number e / kHostBlock % periods
  int32_t periods;
  const uint8_t* const* taps;  // where the elements of each begin, as many as there are in whole
                               // groups; kHostBlock - 1 more are read
  int32_t tap_count;
  int32_t elements;
  int32_t zero, min, max;
  bool is_plain;
};
struct HostRowForm {
  int32_t group;                      // taps
  int32_t weight_bytes;               // in a block
  int32_t offset;                     // added to every element
  int32_t (*place)(int32_t element);  // of a block's element: the number of its sum
  // Pieces of so many elements, `step` from one to the next, behind one another, with the offset;
  // may write kHostBlock - 1 bytes more.
  void (*copy)(const int8_t* from, int64_t step, int32_t elements, int32_t pieces, uint8_t* to);
  void (*run)(const HostRow& row, int8_t* y);
};
constexpr int32_t host_block_bytes(int32_t groups) {
  return static_cast<int32_t>(sizeof(HostBlockNumbers)) + groups * kHostGroupBytes;
}
const HostKernels<HostRowForm>& host_row_forms();

}  // namespace deuteron
