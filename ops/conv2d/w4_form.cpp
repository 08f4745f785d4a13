// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/w4_form.h"

#include <algorithm>

#include "kernels/conv2d/packed_w4/kernel.h"

namespace deuteron {
namespace {

// The least factor with which the weights of a run are -8..7.
std::optional<i32> factor_of(std::span<const i32> run) {
  for (i32 factor = 1; factor <= kMostFactor; ++factor) {
    const auto fits = [&](i32 w) {
      return w % factor == 0 && w / factor >= -kMiddle && w / factor < 16 - kMiddle;
    };
    if (std::ranges::all_of(run, fits)) return factor;
  }
  return std::nullopt;
}

template <Packing p>
void put_run(const W4Tile& t, i32 length, i32 filter, i32 first, std::span<const i32> run,
             i32 factor, int8_t* tile) {
  u8* const bytes = reinterpret_cast<u8*>(tile);
  const i32 at = t.factors + first / kRun * 2 + filter / 2;
  bytes[at] = static_cast<u8>(bytes[at] | (factor - 1) << (filter % 2 * 4));
  for (size_t k = 0; k < run.size(); ++k) {
    const NibblePlace place = nibble_place<p>(length, filter, first + static_cast<i32>(k));
    u8& both = bytes[t.nibbles + place.byte];
    const i32 nibble = run[k] / factor + kMiddle;
    both = static_cast<u8>(place.is_high ? (both & 15) | nibble << 4 : (both & 0xf0) | nibble);
  }
}

// False: a run has no factor.
template <Packing p>
bool put_tile(const W4Tile& t, i32 length, const int8_t* int8, int8_t* tile) {
  constexpr i32 first_numbers = p == Packing::dsp_4x4 ? kDspNumbersFirst : 0;
  std::copy_n(int8, first_numbers, tile);
  std::copy_n(int8 + first_numbers + t.weights_bytes, kTileNumbers - first_numbers,
              tile + first_numbers);
  std::fill_n(tile + t.nibbles, t.weights_bytes / 2, static_cast<int8_t>(kMiddle * 0x11));
  for (i32 filter = 0; filter < kPackedTile; ++filter)
    for (i32 first = 0; first < length; first += kRun) {
      std::vector<i32> run;
      for (i32 e = first; e < std::min(first + kRun, length); ++e)
        run.push_back(packed_weight<p>(int8, length, filter, e));
      const std::optional<i32> factor = factor_of(run);
      if (!factor) return false;
      put_run<p>(t, length, filter, first, run, *factor, tile);
    }
  return true;
}

template <Packing p>
std::optional<std::vector<int8_t>> w4_weights(const PackedConv2dArgs& a,
                                              std::span<const int8_t> int8) {
  const i32 length = a.length(), tiles = packed_tiles(a.out_c);
  const W4Tile t = w4_tile(p, length, a.has_shifts);
  const i64 bytes = packed_tile_bytes(p, length);
  std::vector<int8_t> packed(static_cast<size_t>(w4_bytes(p, a.out_c, length, a.has_shifts)));
  for (i32 k = 0; k < tiles; ++k) {
    int8_t* const tile = packed.data() + i64{k} * t.bytes;
    if (!put_tile<p>(t, length, int8.data() + k * bytes, tile)) return std::nullopt;
    if (a.has_shifts)
      std::copy_n(int8.data() + tiles * bytes + i64{k} * kShiftsBytes, kShiftsBytes,
                  tile + kTileNumbers);
  }
  return packed;
}

}  // namespace

std::optional<std::vector<int8_t>> four_bit_weights(const PackedConv2dArgs& a, Packing p,
                                                    std::span<const int8_t> int8) {
  if (p == Packing::scalar_1x4) return std::nullopt;
  return p == Packing::mve_4x16 ? w4_weights<Packing::mve_4x16>(a, int8)
                                : w4_weights<Packing::dsp_4x4>(a, int8);
}

}  // namespace deuteron
