// SPDX-License-Identifier: Apache-2.0
// Portable: four bytes take three instructions without a table, a byte takes four with one.
#include "kernels/quantize/bytes/kernel.h"

#include <cstring>

namespace deuteron {
namespace {

// x - 128 is x with its upper bit turned over.
void turn_upper_bits(int32_t count, const uint8_t* x, int8_t* y) {
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint32_t four;
    std::memcpy(&four, x + i, sizeof four);
    four ^= 0x80808080u;
    std::memcpy(y + i, &four, sizeof four);
  }
  for (; i < count; ++i) y[i] = static_cast<int8_t>(x[i] - 128);
}

}  // namespace

void quantize_bytes_s8(const QuantizeBytesArgs& a, const uint8_t* x, const int8_t* table,
                       int8_t* y) {
  if (a.channels == 0) return turn_upper_bits(a.count, x, y);
  for (int32_t i = 0, channel = 0; i < a.count;
       channel = channel + 1 < a.channels ? channel + 1 : 0) {
    const int8_t* const steps = table + channel * kByteValues;
    for (const int32_t end = i + a.run; i < end; ++i) y[i] = steps[x[i]];
  }
}

}  // namespace deuteron
