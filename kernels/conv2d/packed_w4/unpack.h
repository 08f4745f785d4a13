// SPDX-License-Identifier: Apache-2.0
// The weights of a tile of four bits as int8, one by one: what the instruction sets do for many at
// once.
#pragma once
#include "kernels/conv2d/packed_w4/tiles.h"

namespace deuteron {

template <Packing p>
int32_t w4_weight(const W4Tile& t, const int8_t* tile, int32_t length, int32_t filter, int32_t e) {
  const NibblePlace at = nibble_place<p>(length, filter, e);
  const auto both = static_cast<uint8_t>(tile[t.nibbles + at.byte]);
  // Of a file that no compiler wrote it may be -128, which two weights in a halfword cannot hold:
  // any int8 is as good.
  return static_cast<int8_t>(((at.is_high ? both >> 4 : both & 15) - kMiddle) *
                             w4_factor(t, tile, e / kRun, filter));
}

// `to`: where the weights of the int8 tile begin.
template <Packing p>
void unpack_weights(const W4Tile& t, int32_t length, const int8_t* tile, int8_t* to) {
  std::memset(to, 0, static_cast<size_t>(t.weights_bytes));
  for (int32_t filter = 0; filter < kPackedTile; ++filter)
    for (int32_t e = 0; e < length; ++e) {
      const int32_t w = w4_weight<p>(t, tile, length, filter, e);
      if constexpr (p == Packing::mve_4x16) {
        to[e / kPackedBlock * (kPackedTile * kPackedBlock) + filter * kPackedBlock +
           e % kPackedBlock] = static_cast<int8_t>(w);
      } else {
        const QuadPlace at = quad_place(length, e);
        int8_t* const half = to + at.quad * 16 + halfword_of(at.element, filter / 2) * 2;
        int16_t both;
        std::memcpy(&both, half, sizeof both);
        both = static_cast<int16_t>(both + w * (filter % 2 == 0 ? 1 : 256));
        std::memcpy(half, &both, sizeof both);
      }
    }
}

}  // namespace deuteron
