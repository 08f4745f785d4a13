// SPDX-License-Identifier: Apache-2.0
// Portable int8 convolution with int16 results: four filters meet one window. The reference of the
// instruction sets, and what a host runs.
#include "kernels/conv2d/s8_s16/kernel.h"

#include "kernels/conv2d/s8_s16/windows.h"

namespace deuteron {

void conv2d_s8_s16(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed, void* scratch,
                   int16_t* y) {
  const PackedConv2dArgs& layer = a.layer;
  const int32_t length = layer.length(), tiles = packed_tiles(layer.out_c);
  const int32_t count = layer.out_c < kPackedTile ? layer.out_c : kPackedTile;
  each_window(layer, x, scratch, y, [&](const int8_t* window, int16_t* to) {
    const int8_t* w = packed;
    for (int32_t t = 0; t < tiles; ++t, w += kTileNumbers) {
      uint32_t sums[kPackedTile] = {};
      for (int32_t e = 0; e < length; e += kPackedBlock) {
        const int32_t here = length - e < kPackedBlock ? length - e : kPackedBlock;
        for (int32_t i = 0; i < kPackedTile; ++i, w += kPackedBlock) {
          int32_t sum = 0;
          for (int32_t k = 0; k < here; ++k) sum += window[e + k] * w[k];
          sums[i] += static_cast<uint32_t>(sum);
        }
      }
      finish_tile(a, sums, w, count, to + first_of_tile(layer.out_c, t));
    }
  });
}

}  // namespace deuteron
