// SPDX-License-Identifier: Apache-2.0
// int8 convolution with int16 results for the DSP extension: four elements of a window meet four
// filters, two products an SMLAD. 23 instructions for 16 products.
#include "kernels/conv2d/s8_s16/kernel.h"
#include "kernels/conv2d/s8_s16/windows.h"

namespace deuteron {
namespace {

// The bytes 0 and 2, 1 and 3 of a word as int16.
inline uint32_t even_bytes(uint32_t v) {
  asm("sxtb16 %0, %1" : "=r"(v) : "r"(v));
  return v;
}
inline uint32_t odd_bytes(uint32_t v) {
  asm("sxtb16 %0, %1, ror #8" : "=r"(v) : "r"(v));
  return v;
}
inline uint32_t add_products(uint32_t a, uint32_t b, uint32_t sum) {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

struct Quad {
  uint32_t even, odd;
  explicit Quad(const int8_t* p) : Quad(static_cast<uint32_t>(packed_int(p))) {}
  explicit Quad(uint32_t bytes) : even(even_bytes(bytes)), odd(odd_bytes(bytes)) {}
};
inline void add_quad(const Quad& x, const int8_t* w, uint32_t (&sums)[kPackedTile]) {
  for (int32_t i = 0; i < kPackedTile; ++i) {
    const Quad filter(w + i * kPackedBlock);
    sums[i] = add_products(x.even, filter.even, add_products(x.odd, filter.odd, sums[i]));
  }
}

}  // namespace

void conv2d_s8_s16_dsp(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed,
                       void* scratch, int16_t* y) {
  const PackedConv2dArgs& layer = a.layer;
  const int32_t length = layer.length(), whole = length / kPackedQuad, rest = length % kPackedQuad,
                tiles = packed_tiles(layer.out_c);
  const int32_t count = layer.out_c < kPackedTile ? layer.out_c : kPackedTile,
                quads = kPackedBlock / kPackedQuad;
  const int32_t blocks = (length + kPackedBlock - 1) / kPackedBlock;
  each_window(layer, x, scratch, y, [&](const int8_t* window, int16_t* to) {
    const int8_t* tile = packed;
    for (int32_t t = 0; t < tiles; ++t) {
      uint32_t sums[kPackedTile] = {};
      const int8_t *w = tile, *from = window;
      for (int32_t q = whole; q > 0; q -= quads, w += kPackedTile * kPackedBlock - kPackedBlock)
        for (int32_t k = q < quads ? q : quads; k > 0; --k, w += kPackedQuad, from += kPackedQuad)
          add_quad(Quad(from), w, sums);
      if (rest > 0) {
        uint32_t last = 0;
        std::memcpy(&last, from, static_cast<size_t>(rest));
        add_quad(Quad(last),
                 tile + whole / quads * (kPackedTile * kPackedBlock) + whole % quads * kPackedQuad,
                 sums);
      }
      tile += blocks * (kPackedTile * kPackedBlock);
      finish_tile(a, sums, tile, count, to + first_of_tile(layer.out_c, t));
      tile += kTileNumbers;
    }
  });
}

}  // namespace deuteron
