// SPDX-License-Identifier: Apache-2.0
// Weights packed ahead of time: in the order in which the inner loop of an instruction set reads
// them, with what it needs beside them. A program says by the overload of a call which packing its
// weights have. A new packing is a row here, a layout below and its kernel.
//
// Filters stand in tiles of four, for scalar_1x4 of one; where their number is no multiple, the
// last tile overlaps its neighbour, and fewer than four are filled up with zeros. `first` is the
// bias with what the zero point of the input adds to every sum: -x_zero times the sum of the
// weights.
//   mve_4x16   blocks of 16 elements: 16 of each filter in turn, zeros behind the last element;
//   then first[4], multiplier[4] dsp_4x4    first[0], first[2]; quads of 4 elements: halfwords of
//   256 * weight[1] + weight[0] for the elements 0 and 2 (a word), of
//              the filters 3 and 2 likewise, then both words for the elements 1 and 3; then
//              first[1], 2 * multiplier[1], 2 * multiplier[0], and likewise for the filters 3
//              and 2. Where the length is no multiple of four, the last quad is the elements
//              length-4..length-1, with weights of 0 for those that an earlier quad has
//   scalar_1x4 first, 2 * multiplier; the weights as they lie in a window, zeros behind the last
//   one up to a multiple of four
// Behind all tiles of a call with shifts follow those of each filter of a tile, -31..0; then
// multipliers are not doubled. Sums that are rounded once have once_shift() of them, which is not
// negative: its low byte is the same. Where the zero point of x is left to the window
// (ops/packed_linear), `first` is the bias alone, and weights are behind_relu(). Units    int32,
// little-endian, 4-aligned; multiplier Q0.31, 0..2^31-1, where it is doubled 0..2^30-1. Where -128
// has no room in a halfword of dsp_4x4, a filter stands there negated, with `first` and multiplier
// (PairSigns): the product that is rounded stays the same
#pragma once
#include <cstdint>
#include <cstring>

#include "runtime/deuteron.h"
#include "runtime/wide_product.h"

namespace deuteron {

#define DEUTERON_PACKINGS(P) \
  P(mve_4x16, Isa::mve)      \
  P(dsp_4x4, Isa::dsp)       \
  P(scalar_1x4, Isa::scalar)

#define DEUTERON_PACKING(name, isa) name,
enum class Packing : uint8_t { DEUTERON_PACKINGS(DEUTERON_PACKING) };
#undef DEUTERON_PACKING

// The instruction set whose kernel reads it.
constexpr Isa isa_of(Packing p) {
  switch (p) {
#define DEUTERON_PACKING(name, isa) \
  case Packing::name:               \
    return isa;
    DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  }
  return Isa::scalar;
}

inline constexpr int32_t kPackedTile = 4;    // filters; of scalar_1x4 one
inline constexpr int32_t kPackedBlock = 16;  // elements of a block of mve_4x16
inline constexpr int32_t kPackedQuad = 4;    // elements of a quad of dsp_4x4, and of scalar_1x4
inline constexpr int32_t kTileNumbers = 32;  // bytes of a tile beside its weights
inline constexpr int32_t kShiftsBytes = 16;  // of a tile's shifts
inline constexpr int32_t kFilterNumbers = kTileNumbers / kPackedTile,
                         kShiftBytes = kShiftsBytes / kPackedTile;  // of one filter

constexpr int32_t packed_tile(Packing p) { return p == Packing::scalar_1x4 ? 1 : kPackedTile; }
constexpr int32_t packed_tiles(int32_t filters, int32_t tile = kPackedTile) {
  return (filters + tile - 1) / tile;
}
// The filter with which tile k begins.
constexpr int32_t first_of_tile(int32_t filters, int32_t k, int32_t tile = kPackedTile) {
  const int32_t last = filters > tile ? filters - tile : 0;
  return k * tile < last ? k * tile : last;
}
constexpr int64_t packed_tile_bytes(Packing p, int64_t length) {
  const int64_t unit = p == Packing::mve_4x16 ? kPackedBlock : kPackedQuad;
  return ((length + unit - 1) / unit * unit + kFilterNumbers) * packed_tile(p);
}
constexpr int64_t packed_bytes(Packing p, int32_t filters, int64_t length) {
  return wide_product(packed_tiles(filters, packed_tile(p)), packed_tile_bytes(p, length));
}
constexpr int64_t packed_shifts_bytes(Packing p, int32_t filters) {
  return int64_t{packed_tiles(filters, packed_tile(p))} * packed_tile(p) * kShiftBytes;
}

// Of a shift, -31..-1, by which a sum is rounded once (requantize_once()), not twice. All of a call
// have it, or none.
constexpr int32_t once_shift(int32_t shift) { return shift & 0xff; }

// Where element e of a filter stands in dsp_4x4: its quad, and which of the four.
struct QuadPlace {
  int32_t quad, element;
};
constexpr QuadPlace quad_place(int32_t length, int32_t e) {
  const int32_t whole = length / kPackedQuad * kPackedQuad;
  return e < whole ? QuadPlace{e / kPackedQuad, e % kPackedQuad}
                   : QuadPlace{length / kPackedQuad, e - (length - kPackedQuad)};
}
// The halfword of an element of a quad, counted from the quad's first, for the filters 0 and 1
// (pair 0) or 2 and 3.
constexpr int32_t halfword_of(int32_t element, int32_t pair) {
  return ((element & 1) * 2 + pair) * 2 + element / 2;
}

// One of a tile's weights. `tile` points to where it begins; nothing is assumed of the bytes in it.
template <Packing p>
int32_t packed_weight(const int8_t* tile, int32_t length, int32_t filter, int32_t e) {
  if constexpr (p == Packing::mve_4x16)
    return tile[e / kPackedBlock * (kPackedTile * kPackedBlock) + filter * kPackedBlock +
                e % kPackedBlock];
  if constexpr (p == Packing::scalar_1x4) return tile[kFilterNumbers + e];
  const QuadPlace at = quad_place(length, e);
  int16_t both;
  std::memcpy(&both, tile + 8 + at.quad * 16 + halfword_of(at.element, filter / 2) * 2,
              sizeof both);
  const int32_t low = static_cast<int8_t>(both & 0xff);
  return filter % 2 == 0 ? low : (both - low) / 256;
}

// A weight for what stands behind a relu, whose elements are x + 128: mve_4x16 has weight + 128 as
// uint8, since VMLADAV has both signed or none. And back again.
template <Packing p>
constexpr int32_t behind_relu(int32_t weight) {
  return p == Packing::mve_4x16 ? weight ^ -128 : weight;
}

// What stands beside the weights of a filter.
struct PackedNumbers {
  int32_t first,
      multiplier;  // the multiplier as it stands there: without shifts doubled, but for mve_4x16
};
inline int32_t packed_int(const int8_t* at) {
  int32_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <Packing p>
PackedNumbers packed_numbers(const int8_t* tile, int32_t length, int32_t filter) {
  if constexpr (p == Packing::scalar_1x4) return {packed_int(tile), packed_int(tile + 4)};
  const int8_t* behind = tile + packed_tile_bytes(p, length) - kTileNumbers;
  if constexpr (p == Packing::mve_4x16)
    return {packed_int(behind + filter * 4), packed_int(behind + 16 + filter * 4)};
  const int8_t* pair = behind + 8 + filter / 2 * 12;
  if (filter % 2 == 1) return {packed_int(pair), packed_int(pair + 4)};
  return {packed_int(tile + filter / 2 * 4), packed_int(pair + 8)};
}

// What the weights of two filters are multiplied with so that 256 * high + low is a halfword, and
// low its low byte; 0 where nothing does.
struct PairSigns {
  int32_t low, high;
};
template <class Weight>
PairSigns pair_signs(int32_t length, const Weight& low, const Weight& high) {
  constexpr PairSigns kSigns[] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  for (const PairSigns& s : kSigns) {
    int32_t e = 0;
    for (; e < length; ++e) {
      const int32_t b = s.low * low(e), both = 256 * s.high * high(e) + b;
      if (b > INT8_MAX || both < INT16_MIN || both > INT16_MAX) break;
    }
    if (e == length) return s;
  }
  return {0, 0};
}

// Writes the tiles. weight(filter, e): e in the order in which the kernel meets the elements of a
// window. `shift`: null, or of each filter; then they are written too. False: the weights of two
// filters do not go into halfwords.
template <Packing p, class Weight>
bool pack_weights(int32_t filters, int32_t length, const int32_t* first, const int32_t* multiplier,
                  const int32_t* shift, const Weight& weight, int8_t* to) {
  const int64_t bytes = packed_tile_bytes(p, length);
  int8_t* const shifts = to + packed_bytes(p, filters, length);
  if (shift) std::memset(shifts, 0, static_cast<size_t>(packed_shifts_bytes(p, filters)));
  std::memset(to, 0, static_cast<size_t>(packed_bytes(p, filters, length)));
  constexpr int32_t tile = packed_tile(p);
  for (int32_t t = 0; t < packed_tiles(filters, tile); ++t, to += bytes)
    for (int32_t i = 0; i < tile; ++i) {
      const int32_t f = first_of_tile(filters, t, tile) + i;
      if (f >= filters) break;
      int8_t* behind = to + bytes - kFilterNumbers * tile;
      if (shift) std::memcpy(shifts + (t * tile + i) * kShiftBytes, shift + f, 4);
      int32_t begin = first[f];
      int32_t scale = multiplier[f] * (p == Packing::mve_4x16 || shift ? 1 : 2);
      if constexpr (p == Packing::scalar_1x4) {
        for (int32_t e = 0; e < length; ++e)
          to[kFilterNumbers + e] = static_cast<int8_t>(weight(f, e));
        std::memcpy(to, &begin, 4);
        std::memcpy(to + 4, &scale, 4);
      } else if constexpr (p == Packing::mve_4x16) {
        for (int32_t e = 0; e < length; ++e)
          to[e / kPackedBlock * (kPackedTile * kPackedBlock) + i * kPackedBlock +
             e % kPackedBlock] = static_cast<int8_t>(weight(f, e));
        std::memcpy(behind + i * 4, &begin, 4);
        std::memcpy(behind + 16 + i * 4, &scale, 4);
      } else {
        const int32_t low = f - i % 2;
        const auto of = [&](int32_t o) {
          return [&, o](int32_t e) { return o < filters ? int32_t{weight(o, e)} : 0; };
        };
        const PairSigns signs = pair_signs(length, of(low), of(low + 1));
        const int32_t sign = i % 2 == 0 ? signs.low : signs.high;
        if (sign == 0) return false;
        begin *= sign, scale *= sign;
        for (int32_t e = 0; e < length; ++e) {
          const QuadPlace at = quad_place(length, e);
          int8_t* half = to + 8 + at.quad * 16 + halfword_of(at.element, i / 2) * 2;
          int16_t both;
          std::memcpy(&both, half, sizeof both);
          both = static_cast<int16_t>(both + sign * weight(f, e) * (i % 2 == 0 ? 1 : 256));
          std::memcpy(half, &both, sizeof both);
        }
        int8_t* pair = behind + 8 + i / 2 * 12;
        std::memcpy(i % 2 == 0 ? to + i / 2 * 4 : pair, &begin, 4);
        std::memcpy(i % 2 == 0 ? pair + 8 : pair + 4, &scale, 4);
      }
    }
  return true;
}

}  // namespace deuteron
