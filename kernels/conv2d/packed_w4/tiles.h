// SPDX-License-Identifier: Apache-2.0
// Weights of four bits: the tiles of kernels/dense/packing.h in about half the bytes. A run of 16
// elements of one filter, counted in the order of the packing, has a factor 1..16; each weight is
// (nibble - 8) * factor, an int8 number. So a network with such weights is an int8 network, and its
// kernels those of int8: a tile becomes one of int8 before it is read. Tiles overlap as those of
// int8 do. One is
//   32 bytes       the numbers of the int8 tile, in its order, then shift[4] where the call has
//   shifts 2 for a run    factor - 1 of the four filters, four bits each, the first one lowest;
//   filled up to a multiple of 4 nibbles        mve_4x16: for each block, 16 bytes with filter 0 in
//   their low halves and filter 1 in their high ones, then 2 and 3
//                  dsp_4x4: for each quad and each pair of filters, 4 bytes: elements 0 (both
//                  filters), then 2, in the low halves, 1, then 3 in the high ones; the pair of the
//                  filters 0 and 1 first
// Elements that the int8 tile fills up with zeros are nibbles of 8. Behind all tiles there is
// nothing.
#pragma once
#include "kernels/dense/packing.h"

namespace deuteron {

inline constexpr int32_t kRun = 16;  // elements with one factor
inline constexpr int32_t kMostFactor = 16;
inline constexpr int32_t kMiddle = 8;  // the nibble of a weight of 0
// bytes of a tile's numbers that stand before its weights with dsp_4x4
inline constexpr int32_t kDspNumbersFirst = 8;

constexpr int32_t w4_numbers_bytes(bool has_shifts) {
  return kTileNumbers + (has_shifts ? kShiftsBytes : 0);
}
constexpr int64_t w4_factors_bytes(int64_t length) {
  return (length + 2 * kRun - 1) / (2 * kRun) * 4;
}
constexpr int64_t w4_tile_bytes(Packing p, int64_t length, bool has_shifts) {
  return w4_numbers_bytes(has_shifts) + w4_factors_bytes(length) +
         (packed_tile_bytes(p, length) - kTileNumbers) / 2;
}
constexpr int64_t w4_bytes(Packing p, int32_t filters, int64_t length, bool has_shifts) {
  return packed_tiles(filters) * w4_tile_bytes(p, length, has_shifts);
}

// The parts of a tile of one call.
struct W4Tile {
  int32_t bytes;    // from a tile to the next
  int32_t factors;  // where they begin
  int32_t nibbles;
  int32_t weights_bytes;  // of the int8 tile
};
inline W4Tile w4_tile(Packing p, int32_t length, bool has_shifts) {
  const int32_t unit = p == Packing::mve_4x16 ? kPackedBlock : kPackedQuad,
                numbers = w4_numbers_bytes(has_shifts);
  const int32_t nibbles = numbers + (length + 2 * kRun - 1) / (2 * kRun) * 4;
  const int32_t weights = (length + unit - 1) / unit * unit * kPackedTile;
  return {nibbles + weights / 2, numbers, nibbles, weights};
}

// The factor of a filter in a run. `tile` points to where it begins.
inline int32_t w4_factor(const W4Tile& t, const int8_t* tile, int32_t run, int32_t filter) {
  const auto pair = static_cast<uint8_t>(tile[t.factors + run * 2 + filter / 2]);
  return ((filter % 2 == 0 ? pair : pair >> 4) & 15) + 1;
}

// Where the nibble of element e of a filter stands.
struct NibblePlace {
  int32_t byte;  // behind the first nibble
  bool is_high;
};
template <Packing p>
NibblePlace nibble_place(int32_t length, int32_t filter, int32_t e) {
  if constexpr (p == Packing::mve_4x16)
    return {e / kPackedBlock * 32 + filter / 2 * 16 + e % kPackedBlock, filter % 2 == 1};
  const QuadPlace at = quad_place(length, e);
  return {at.quad * 8 + filter / 2 * 4 + at.element / 2 * 2 + filter % 2, at.element % 2 == 1};
}

// The numbers of a tile to those of an int8 tile, between which its weights stand.
template <Packing p>
void unpack_numbers(const W4Tile& t, const int8_t* tile, int8_t* to) {
  constexpr int32_t first = p == Packing::dsp_4x4 ? kDspNumbersFirst : 0;
  std::memcpy(to, tile, first);
  std::memcpy(to + first + t.weights_bytes, tile + first, kTileNumbers - first);
}

}  // namespace deuteron
