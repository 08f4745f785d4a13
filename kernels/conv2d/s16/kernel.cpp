// SPDX-License-Identifier: Apache-2.0
// Portable int16 convolution: four filters meet one window. The reference of the instruction sets,
// and what a host runs.
#include "kernels/conv2d/s16/kernel.h"

#include "kernels/conv2d/s16/windows.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

void run_tile(const Conv2dS16Args& a, const int16_t* x, const int8_t* tile, int32_t count,
              int16_t* y) {
  uint32_t sums[kPackedTile] = {};
  const int32_t blocks = s16_blocks(a.length());
  for (int32_t b = 0; b < blocks; ++b, x += kS16Block)
    for (int32_t i = 0; i < kPackedTile; ++i, tile += kS16Block * 2) {
      int16_t w[kS16Block];
      std::memcpy(w, tile, sizeof w);
      for (int32_t e = 0; e < kS16Block; ++e) sums[i] += static_cast<uint32_t>(x[e] * w[e]);
    }
  int32_t first[kPackedTile], multiplier[kPackedTile];
  std::memcpy(first, tile, sizeof first);
  std::memcpy(multiplier, tile + sizeof first, sizeof multiplier);
  for (int32_t i = 0; i < count; ++i) {
    const auto sum = static_cast<int32_t>(sums[i] + static_cast<uint32_t>(first[i]));
    y[i] = static_cast<int16_t>(clamp_to(multiply_high(sum, multiplier[i]), a.y_min, a.y_max));
  }
}

}  // namespace

void conv2d_s16(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                int16_t* y) {
  const int32_t tile_bytes = packed_s16_tile_bytes(a.length()), tiles = packed_tiles(a.out_c);
  const int32_t count = a.out_c < kPackedTile ? a.out_c : kPackedTile;
  each_strip_s16(
      a, x, scratch, y, [&](const int16_t* window, int32_t step, int32_t windows, int16_t* to) {
        for (; windows > 0; --windows, window += step, to += a.out_c)
          for (int32_t t = 0; t < tiles; ++t)
            run_tile(a, window, packed + t * tile_bytes, count, to + first_of_tile(a.out_c, t));
      });
}

}  // namespace deuteron
