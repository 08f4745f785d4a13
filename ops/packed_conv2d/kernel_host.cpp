// Windows are gathered, as many as have room, and then met by every tile. A tile of another packing is put into blocks first.
#include "ops/packed_conv2d/kernel_host.h"

#include <cstring>

namespace deuteron {
namespace {

constexpr int32_t kRoom = 1 << 15;  // bytes of windows, and of a tile's weights
constexpr int32_t kMostWindows = 64;
constexpr uint8_t kSign = 0x80;  // x + 128 as a byte

// dsp_4x4 -> blocks. Elements of a quad stand in halfwords of two filters each: packing.h.
void unpack_tile(const int8_t* tile, int32_t length, int8_t* blocks) {
  std::memset(blocks, 0, static_cast<size_t>((length + kHostBlock - 1) / kHostBlock * kHostBlock * kHostTile));
  const auto put = [blocks](int32_t filter, int32_t e, int32_t w) {
    blocks[e / kHostBlock * (kHostBlock * kHostTile) + filter * kHostBlock + e % kHostBlock] = static_cast<int8_t>(w);
  };
  const int32_t whole = length / kPackedQuad * kPackedQuad;
  for (int32_t e = 0; e < whole; ++e)
    for (int32_t pair = 0; pair < 2; ++pair) {
      int16_t both;
      std::memcpy(&both, tile + 8 + e / kPackedQuad * 16 + halfword_of(e % kPackedQuad, pair) * 2, sizeof both);
      const int32_t low = static_cast<int8_t>(both & 0xff);
      put(2 * pair, e, low);
      put(2 * pair + 1, e, (both - low) >> 8);
    }
  for (int32_t e = whole; e < length; ++e)
    for (int32_t f = 0; f < kHostTile; ++f) put(f, e, packed_weight<Packing::dsp_4x4>(tile, length, f, e));
}

void copy_signed(const int8_t* from, int32_t count, uint8_t* to) {
  constexpr uint64_t kSigns = 0x8080808080808080;
  int32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, from + i, sizeof eight);
    eight ^= kSigns;
    std::memcpy(to + i, &eight, sizeof eight);
  }
  for (; i < count; ++i) to[i] = static_cast<uint8_t>(static_cast<uint8_t>(from[i]) ^ kSign);
}

// The window whose first tap stands at row ih, column iw, which may lie outside.
template <Packing p>
void gather(const PackedConv2dArgs& a, const int8_t* image, int32_t ih, int32_t iw, uint8_t* to) {
  const auto zero = static_cast<uint8_t>(static_cast<uint8_t>(a.x_zero) ^ kSign);
  const int32_t outer = p == Packing::mve_4x16 ? a.kernel_w : a.kernel_h, inner = p == Packing::mve_4x16 ? a.kernel_h : a.kernel_w;
  for (int32_t o = 0; o < outer; ++o)
    for (int32_t i = 0; i < inner; ++i, to += a.in_c) {
      const int32_t h = ih + (p == Packing::mve_4x16 ? i : o) * a.dilation_h, w = iw + (p == Packing::mve_4x16 ? o : i) * a.dilation_w;
      if (h >= 0 && h < a.in_h && w >= 0 && w < a.in_w) copy_signed(image + (h * a.in_w + w) * a.in_c, a.in_c, to);
      else std::memset(to, zero, static_cast<size_t>(a.in_c));
    }
}

template <Packing p>
HostTile tile_at(const PackedConv2dArgs& a, const int8_t* tile, int8_t* room) {
  HostTile t{tile, (a.length() + kHostBlock - 1) / kHostBlock, {}, {}, p == Packing::mve_4x16 ? 31 : 32, a.y_zero};
  if constexpr (p != Packing::mve_4x16) unpack_tile(tile, a.length(), room), t.weights = room;
  for (int32_t f = 0; f < kHostTile; ++f) {
    const PackedNumbers n = packed_numbers<p>(tile, a.length(), f);
    t.first[f] = n.first, t.multiplier[f] = n.multiplier;
  }
  return t;
}

}  // namespace

template <Packing p>
bool packed_conv2d_s8_host(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, HostTileKernel run, int8_t* y) {
  const int32_t length = a.length(), window = (length + kHostBlock - 1) / kHostBlock * kHostBlock;
  if (a.has_shifts || window * kHostTile > kRoom) return false;
  alignas(64) uint8_t windows[kRoom];
  alignas(64) int8_t weights[p == Packing::mve_4x16 ? 1 : kRoom];
  int8_t out[kMostWindows * kHostTile];
  int8_t* places[kMostWindows];
  const int32_t room = kRoom / window / 4 * 4, at_once = room < kMostWindows ? room : kMostWindows;
  const int32_t filters = a.out_c < kHostTile ? a.out_c : kHostTile, rows = a.n * a.out_h, all = rows * a.out_w;
  const int64_t bytes = packed_tile_bytes(p, length);
  std::memset(windows, 0, sizeof windows);  // behind a window's last element
  for (int32_t done = 0; done < all; done += at_once) {
    const int32_t here = all - done < at_once ? all - done : at_once;
    for (int32_t i = 0; i < here; ++i) {
      const int32_t row = (done + i) / a.out_w, ow = (done + i) % a.out_w, n = row / a.out_h, oh = row % a.out_h;
      gather<p>(a, x + n * a.in_h * a.in_w * a.in_c, oh * a.stride_h - a.pad_h, ow * a.stride_w - a.pad_w, windows + i * window);
      places[i] = y + row * a.y_row + ow * a.y_step;
    }
    for (int32_t t = 0; t < packed_tiles(a.out_c); ++t) {
      run(tile_at<p>(a, packed + t * bytes, weights), windows, (here + 3) / 4 * 4, out);
      const int32_t at = first_of_tile(a.out_c, t);
      for (int32_t i = 0; i < here; ++i) std::memcpy(places[i] + at, out + i * kHostTile, static_cast<size_t>(filters));
    }
  }
  return true;
}

template bool packed_conv2d_s8_host<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*, const int8_t*, HostTileKernel, int8_t*);
template bool packed_conv2d_s8_host<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*, const int8_t*, HostTileKernel, int8_t*);

}  // namespace deuteron
