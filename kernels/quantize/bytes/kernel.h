// SPDX-License-Identifier: Apache-2.0
// Bytes of a camera or another sensor to int8: the quantization of what they stand for, worked out
// ahead of time.
//   y[i] = table[channel(i)][x[i]],  channel(i) = i / run mod channels;  without a table y[i] =
//   x[i] - 128
// Shapes   x, y [count]   table [channels, 256]; channels = 0: there is none
// Limits   run >= 1; count divides by channels * run
// Scratch  none   Errors  none   Aliasing  y may begin where x begins: element i is read before it
// is written Source   docs/numerics.md, "Bytes as input"
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kByteValues = 256;

struct QuantizeBytesArgs {
  int32_t count;
  int32_t channels, run;  // run: elements of one channel that lie together; 1 for channels-last
};

void quantize_bytes_s8(const QuantizeBytesArgs& a, const uint8_t* x, const int8_t* table,
                       int8_t* y);

// The same with the M-profile Vector Extension.
void quantize_bytes_s8_mve(const QuantizeBytesArgs& a, const uint8_t* x, const int8_t* table,
                           int8_t* y);

}  // namespace deuteron
