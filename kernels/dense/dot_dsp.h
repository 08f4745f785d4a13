// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear with the DSP extension (Cortex-M4, M7, M33, M35P):
// windows are widened to int16, with the offset of the input added, and meet the weights as they
// lie in the file, two products an SMLAD. Sums wrap modulo 2^32. Nothing is read beyond the
// operands. Schedules: kernels/dense/dot_dsp.S.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kDspQuad = 4;  // elements of a word of int8

// How sums become bytes.
enum DspFinish : int32_t {
  kPlainSums,  // every shift is 0, every multiplier 0..2^30-1, and the bounds are those of int8;
               // sums are whatever they are
  kSmallSums,  // no sum leaves +-2^30, and every shift is 0 or below
  kAnySums,    // whatever sums, multipliers and shifts there are
};

// Windows as widened pairs of int16, one or two or four of them: for each quad of elements the
// pairs (e0, e2) of every window, then the pairs (e1, e3). Where the length is no multiple of four,
// the last quad is elements length-4..length-1, and those that were there before are 0: the weights
// of that quad are read in one word too.
struct DspDot {
  const int16_t* x;
  const int8_t* weight;  // rows of `length` each
  int32_t quads, rest;   // length / 4, at least 1, and length % 4
  int32_t length;
  const int32_t *first, *multiplier, *shift;  // of each filter
  int8_t* y[4];                               // of each window; may be the same
  int32_t filters, y_zero, y_min, y_max;
  DspFinish finish;
  uint32_t weight_offset;  // added to each weight, in both halves; but with four windows 0
};
extern "C" void deuteron_dot_4x1_dsp(const DspDot* a);  // four windows
extern "C" void deuteron_dot_2x2_dsp(const DspDot* a);  // two windows; filters is even
extern "C" void deuteron_dot_1x2_dsp(
    const DspDot* a);  // one; filters is even, length a multiple of 8, weight 4-aligned

// Widens `quads` quads of two or four windows side by side; `offset` in both halves. Returns where
// the next quad goes.
extern "C" int16_t* deuteron_widen_two_dsp(const int8_t* a, const int8_t* b, int32_t quads,
                                           int16_t* to, uint32_t offset);
extern "C" int16_t* deuteron_widen_four_dsp(const int8_t* const (&x)[4], int32_t quads, int16_t* to,
                                            uint32_t offset);
// Of one window among `windows`: `to` is where its first pair goes.
extern "C" int16_t* deuteron_widen_dsp(const int8_t* a, int32_t quads, int16_t* to, uint32_t offset,
                                       int32_t windows);

}  // namespace deuteron
