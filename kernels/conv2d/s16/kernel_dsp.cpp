// SPDX-License-Identifier: Apache-2.0
// int16 convolution with the DSP extension: four filters meet a window, two products an SMLAD. 26
// instructions for 32 products.
#include "kernels/conv2d/s16/kernel.h"
#include "kernels/conv2d/s16/windows.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

#define DEUTERON_FILTER(sum)                                                             \
  "ldrd %[w0], %[w1], [%[tile]], #8\n smlad " sum ", %[x0], %[w0], " sum "\n smlad " sum \
  ", %[x1], %[w1], " sum                                                                 \
  "\n"                                                                                   \
  "ldrd %[w0], %[w1], [%[tile]], #8\n smlad " sum ", %[x2], %[w0], " sum "\n smlad " sum \
  ", %[x3], %[w1], " sum "\n"

// The results of a tile. `tile` ends up behind its blocks.
void run_tile(const Conv2dS16Args& a, int32_t blocks, const int16_t* x, const int8_t* tile,
              int32_t count, int16_t* y) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  uint32_t x0, x1, x2, x3, w0, w1;
  asm("1:\n"
      "ldrd %[x0], %[x1], [%[x]], #8\n ldrd %[x2], %[x3], [%[x]], #8\n"  //
      DEUTERON_FILTER("%[s0]") DEUTERON_FILTER("%[s1]") DEUTERON_FILTER("%[s2]")
          DEUTERON_FILTER("%[s3]") "subs %[n], #1\n bne 1b\n"
      : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [x] "+r"(x), [tile] "+r"(tile),
        [n] "+r"(blocks), [x0] "=&r"(x0), [x1] "=&r"(x1), [x2] "=&r"(x2), [x3] "=&r"(x3),
        [w0] "=&r"(w0), [w1] "=&r"(w1)
      :
      : "memory", "cc");
  const uint32_t sums[kPackedTile] = {static_cast<uint32_t>(s0), static_cast<uint32_t>(s1),
                                      static_cast<uint32_t>(s2), static_cast<uint32_t>(s3)};
  const auto* numbers = reinterpret_cast<const int32_t*>(tile);  // first[4], multiplier[4]
  for (int32_t i = 0; i < count; ++i) {
    const auto sum = static_cast<int32_t>(sums[i] + static_cast<uint32_t>(numbers[i]));
    y[i] = static_cast<int16_t>(
        clamp_to(multiply_high(sum, numbers[kPackedTile + i]), a.y_min, a.y_max));
  }
}
#undef DEUTERON_FILTER

}  // namespace

void conv2d_s16_dsp(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                    int16_t* y) {
  const int32_t tile_bytes = packed_s16_tile_bytes(a.length()), tiles = packed_tiles(a.out_c),
                blocks = s16_blocks(a.length());
  const int32_t count = a.out_c < kPackedTile ? a.out_c : kPackedTile;
  each_strip_s16(a, x, scratch, y,
                 [&](const int16_t* window, int32_t step, int32_t windows, int16_t* to) {
                   for (; windows > 0; --windows, window += step, to += a.out_c)
                     for (int32_t t = 0; t < tiles; ++t)
                       run_tile(a, blocks, window, packed + t * tile_bytes, count,
                                to + first_of_tile(a.out_c, t));
                 });
}

}  // namespace deuteron
