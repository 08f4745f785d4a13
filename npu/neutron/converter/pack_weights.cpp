// SPDX-License-Identifier: Apache-2.0
// See pack_weights.h; the layouts are those of npu/neutron/machine/microcode.h.
#include "npu/neutron/converter/pack_weights.h"

#include <cstring>

namespace deuteron::neutron {

constexpr i64 kUnits = 8, kLanes = 8;

static i64 blocks(i64 n, i64 of) { return (n + of - 1) / of; }

std::vector<u8> pack_by_channel(std::span<const int8_t> w, i64 oc, i64 kh, i64 kw, i64 c) {
  return pack_by_row(w, oc, kh * kw, 1, c);
}

std::vector<u8> pack_by_row(std::span<const int8_t> w, i64 oc, i64 kh, i64 kw, i64 c) {
  const i64 row = kw * c, row_blocks = blocks(row, kLanes);
  std::vector<u8> packed(
      static_cast<size_t>(blocks(oc, kUnits) * kh * row_blocks * kUnits * kLanes), 0);
  for (i64 o = 0; o < oc; ++o)
    for (i64 h = 0; h < kh; ++h)
      for (i64 i = 0; i < row; ++i) {
        const i64 block = ((o / kUnits) * kh + h) * row_blocks + i / kLanes;
        packed[(block * kUnits + o % kUnits) * kLanes + i % kLanes] =
            static_cast<u8>(w[(o * kh + h) * row + i]);
      }
  return packed;
}

std::vector<u8> pack_depthwise(std::span<const int8_t> w, i64 kh, i64 kw, i64 oc) {
  const i64 taps = kh * kw;
  std::vector<u8> packed(static_cast<size_t>(blocks(oc, kUnits) * taps * kUnits), 0);
  for (i64 t = 0; t < taps; ++t)
    for (i64 o = 0; o < oc; ++o)
      packed[((o / kUnits) * taps + t) * kUnits + o % kUnits] = static_cast<u8>(w[t * oc + o]);
  return packed;
}

std::vector<u8> pack_parameters(std::span<const i32> bias, std::span<const Factor> factors) {
  std::vector<u8> bytes(factors.size() * kParamBytes);
  for (size_t c = 0; c < factors.size(); ++c) {
    const i32 words[] = {bias.empty() ? 0 : bias[c], factors[c].value};
    std::memcpy(&bytes[c * kParamBytes], words, sizeof words);
    bytes[c * kParamBytes + sizeof words] = static_cast<u8>(factors[c].shift);
  }
  return bytes;
}

}  // namespace deuteron::neutron
