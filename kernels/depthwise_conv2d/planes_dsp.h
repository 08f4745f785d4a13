// SPDX-License-Identifier: Apache-2.0
// Depthwise windows with the DSP extension: 4 channels of some rows as planes of int16, x_offset
// added, so that neighbouring columns of a channel are the halves of a word, for SMLAD. Rows of a
// plane are 32 elements.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kPlaneRow = 32;  // elements

// Rows of pixels of 4 channels each to the same rows of 4 planes.
struct DspFill {
  const int8_t* x;
  int32_t step, row_step;  // bytes from a pixel to the next, and from row to row
  int16_t* to;
  int32_t plane_bytes;   // from a plane to the next
  int32_t pixels, rows;  // at least 1
  uint32_t offset;       // added, in both halves
};
extern "C" void deuteron_fill_planes_dsp(const DspFill* a);

// How the sums of a channel become bytes.
enum class DspChannelFinish : int32_t {
  plain,  // the high word of the product, rounded, and `added`; saturated
  up,     // the same without rounding, then to the right by kUpShift; saturated
  away,   // as plain, then to the right by `right`, halves away from zero: what is negative loses
          // one first; saturated
  small,  // any bounds; no sum leaves +-2^30, and the shift is to the right
  any,    // whatever sums, multipliers and shifts there are
};
// a part of the instruction that saturates: the shift of a channel would be one of its own
inline constexpr int32_t kUpShift = 10;

// Filters of a channel, and what becomes of its sums.
struct DspChannel {
  uint32_t weight[6];         // for each row (w0, w1) (w1, w2), the first one in the lower half
  int32_t first, multiplier;  // plain: the multiplier doubled. up, away: the sums stand to the left
                              // instead, so `first` and weights do
  int32_t right, left;        // the shift to either side, 0 or more
  int32_t added;  // the zero point of y; up, away: with one half, before the shift to the right
  DspChannelFinish finish;
};
struct DspPlane {
  int8_t* y;
  int32_t y_step, rows, row_step;  // bytes of y from an output to the next, and from row to row
  int32_t pairs, odd;              // outputs of a row: twice `pairs`, and one more
  int32_t y_min, y_max;
};
extern "C" void deuteron_depthwise_s1_dsp(const int16_t* plane, const DspChannel* channel,
                                          const DspPlane* a);
extern "C" void deuteron_depthwise_s2_dsp(const int16_t* plane, const DspChannel* channel,
                                          const DspPlane* a);

// A row of four planes whose windows are one row of taps, four outputs at a time. Each pair of
// elements has two words of weights: for even outputs (w0, w1) (w2, w3) and so on, for odd ones
// (0, w0) (w1, w2). Where a channel is `small` or `any` it has sums instead of bytes.
inline constexpr int32_t kRowTaps = 16, kRowOutputs = 64, kRowElements = kRowOutputs + kRowTaps + 8;
using DspRowWeight = uint32_t[kRowTaps + 2];  // of a channel
struct DspRow {
  const DspRowWeight* weight;  // of four channels, as all that follows
  const int16_t* planes;       // kRowElements apart; what outputs behind the last would see is read
  const DspChannel* channel;
  int8_t* y;
  int32_t (*sums)[kRowOutputs];
  int32_t y_step, outputs, pairs;  // pairs: at least 2
};
extern "C" void deuteron_depthwise_row_dsp(const DspRow* a);

// Outputs of rows of one plane whose windows are several rows of taps, four at a time; weights of
// each row of taps as of DspRowWeight. What outputs behind the last would see is read.
enum class DspWindowKind : int32_t {
  any,    // stride 1
  five,   // stride 1, three pairs
  apart,  // stride 2, three pairs: all outputs have the weights of even ones
};
struct DspWindow {
  const int16_t* plane;
  int8_t* y;
  int32_t y_step, outputs;
  const DspChannel* channel;
  int32_t* sums;  // of outputs, where the channel is `small` or `any`; then there is one row
  int32_t pairs;  // of a row of taps
  const uint32_t* weight;
  int32_t rows;
  DspWindowKind kind;
  int32_t out_rows, plane_step, row_step;  // bytes of the plane, and of y, from a row to the next
};
extern "C" void deuteron_depthwise_window_dsp(const DspWindow* a);

}  // namespace deuteron
