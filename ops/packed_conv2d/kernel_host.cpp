// Columns of an output row's input are gathered once, each with the rows that its windows have of it, so that a window is a piece of them
// and neighbours share; then every tile meets every window. A tile of another packing is put into blocks first.
#include "ops/packed_conv2d/kernel_host.h"

#include <cstring>

#include "ops/image/window.h"

namespace deuteron {
namespace {

constexpr int32_t kRoom = 1 << 15;         // bytes of windows: with a tile they stay in a first-level cache
constexpr int32_t kWeightsRoom = 1 << 16;  // bytes of tiles that were put into blocks
constexpr int32_t kMostWindows = 256;
constexpr uint8_t kSign = 0x80;  // x + 128 as a byte

constexpr int32_t in_blocks(int32_t length) { return (length + kHostBlock - 1) / kHostBlock * kHostBlock; }

// Two weights of a filter are in the low bytes of a word's halfwords, two of the next filter above them, to which a negative low one has
// borrowed one.
struct FilterPair {
  uint64_t low, high;
};
FilterPair apart(uint64_t halfwords) {
  constexpr uint64_t kBytes = 0x00ff00ff00ff00ff, kOnes = 0x0001000100010001;
  return {halfwords & kBytes, ((halfwords >> 8 & kBytes) + (halfwords >> 7 & kOnes)) & kBytes};
}

// dsp_4x4 -> blocks, a window's elements in the order of mve_4x16.
class Unpacked {
 public:
  Unpacked(const PackedConv2dArgs& a, int8_t* blocks) : a_(a), blocks_(blocks) {}

  void put_tile(const int8_t* tile) {
    const int32_t length = a_.length();
    std::memset(blocks_, 0, static_cast<size_t>(in_blocks(length) * kHostTile));
    const bool whole_quads = a_.in_c % kPackedQuad == 0;
    const int8_t* quad = tile + 8;
    for (int32_t kh = 0, e = 0; kh < a_.kernel_h; ++kh)
      for (int32_t kw = 0; kw < a_.kernel_w; ++kw) {
        const int32_t first = (kw * a_.kernel_h + kh) * a_.in_c;
        if (whole_quads)
          for (int32_t c = 0; c < a_.in_c; c += kPackedQuad, quad += 16) put_quad(quad, first + c);
        else
          for (int32_t c = 0; c < a_.in_c; ++c, ++e)
            for (int32_t f = 0; f < kHostTile; ++f)
              *place(f, first + c) = static_cast<int8_t>(packed_weight<Packing::dsp_4x4>(tile, length, f, e));
      }
  }

 private:
  int8_t* place(int32_t filter, int32_t e) const {
    return blocks_ + e / kHostBlock * (kHostBlock * kHostTile) + filter * kHostBlock + e % kHostBlock;
  }
  // Four elements of four filters: the elements 0 and 2, then 1 and 3 (halfword_of() in ops/dense/packing.h).
  void put_quad(const int8_t* quad, int32_t e) const {
    uint64_t even, odd;
    std::memcpy(&even, quad, sizeof even);
    std::memcpy(&odd, quad + 8, sizeof odd);
    const FilterPair a = apart(even), b = apart(odd);
    const uint64_t first = a.low | b.low << 8, second = a.high | b.high << 8;  // filters 0 and 2, 1 and 3
    const auto put = [this, e](int32_t filter, uint64_t four) {
      const auto word = static_cast<uint32_t>(four);
      std::memcpy(place(filter, e), &word, sizeof word);
    };
    put(0, first), put(1, second), put(2, first >> 32), put(3, second >> 32);
  }

  const PackedConv2dArgs& a_;
  int8_t* const blocks_;
};

template <class Word>
void flip_signs(const int8_t* from, uint8_t* to) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  word ^= static_cast<Word>(0x8080808080808080);
  std::memcpy(to, &word, sizeof word);
}

using Sixteen [[gnu::vector_size(16)]] = uint8_t;
inline void copy_signed(const int8_t* from, int32_t count, uint8_t* to) {
  int32_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Sixteen bytes;
    std::memcpy(&bytes, from + i, sizeof bytes);
    bytes ^= kSign;
    std::memcpy(to + i, &bytes, sizeof bytes);
  }
  if ((count & 8) != 0) flip_signs<uint64_t>(from + i, to + i), i += 8;
  if ((count & 4) != 0) flip_signs<uint32_t>(from + i, to + i), i += 4;
  if ((count & 2) != 0) flip_signs<uint16_t>(from + i, to + i), i += 2;
  if ((count & 1) != 0) flip_signs<uint8_t>(from + i, to + i);
}

// Windows of one call, as many at a time as there is room for.
class Windows {
 public:
  explicit Windows(const PackedConv2dArgs& a)
      : a_(a),
        column_(a.kernel_h * a.in_c),
        window_(in_blocks(a.length())),
        shared_(a.dilation_w == 1 && a.stride_w <= a.kernel_w),
        zero_(static_cast<uint8_t>(static_cast<uint8_t>(a.x_zero) ^ kSign)) {}

  // Gathers windows from number `done` on, counted row by row. How many: at least one.
  int32_t gather(const int8_t* x, int32_t done) {
    const int32_t all = a_.n * a_.out_h * a_.out_w;
    int32_t here = 0, used = 0;
    while (here < kMostWindows && done + here < all) {
      const int32_t row = (done + here) / a_.out_w, ow = (done + here) % a_.out_w;
      const int32_t rest = a_.out_w - ow, most = kMostWindows - here, fit = fitting(kRoom - used);
      int32_t count = rest < most ? rest : most;
      if (fit < count) count = fit;
      if (count < 1) break;
      const int8_t* image = x + row / a_.out_h * a_.in_h * a_.in_w * a_.in_c;
      const int32_t ih = row % a_.out_h * a_.stride_h - a_.pad_h, iw = ow * a_.stride_w - a_.pad_w;
      const int32_t step = shared_ ? a_.stride_w * column_ : window_;
      for (int32_t i = 0; i < count; ++i) at_[here + i] = room_ + used + i * step;
      if (shared_) used += fill_columns(image, ih, iw, 1, (count - 1) * a_.stride_w + a_.kernel_w, room_ + used);
      else
        for (int32_t i = 0; i < count; ++i, used += window_) {
          const int32_t bytes = fill_columns(image, ih, iw + i * a_.stride_w, a_.dilation_w, a_.kernel_w, room_ + used);
          std::memset(room_ + used + bytes, 0, static_cast<size_t>(window_ - bytes));
        }
      here += count;
    }
    std::memset(room_ + used, 0, kHostBlock);  // is read behind the last window, and multiplied by zero
    for (int32_t i = here; i % kHostWindows != 0; ++i) at_[i] = at_[here - 1];
    return here;
  }
  const uint8_t* const* at() const { return at_; }

 private:
  int32_t fitting(int32_t bytes) const {
    if (!shared_) return bytes / window_;
    const int32_t columns = bytes / column_ - a_.kernel_w;
    return columns < 0 ? 0 : columns / a_.stride_w + 1;
  }

  // Columns iw, iw + step, .. of the rows of the windows that begin at row ih: [columns][kernel_h][in_c]. How many bytes.
  int32_t fill_columns(const int8_t* image, int32_t ih, int32_t iw, int32_t step, int32_t columns, uint8_t* to) const {
    for (int32_t kh = 0; kh < a_.kernel_h; ++kh) {
      const int32_t h = ih + kh * a_.dilation_h;
      const Taps inside = h >= 0 && h < a_.in_h ? taps_inside(iw, columns, step, a_.in_w) : Taps{0, 0};
      const int8_t* from = image;  // of the first column inside
      if (inside.first < inside.end) from += (h * a_.in_w + iw + inside.first * step) * a_.in_c;
      fill_row(from, step * a_.in_c, columns, inside, to + kh * a_.in_c);
    }
    return columns * column_;
  }
  // One of those rows.
  void fill_row(const int8_t* from, int32_t step, int32_t columns, Taps inside, uint8_t* to) const {
    const auto outside = [&](int32_t begin, int32_t end) {
      for (int32_t k = begin; k < end; ++k) std::memset(to + k * column_, zero_, static_cast<size_t>(a_.in_c));
    };
    outside(0, inside.first);
    if (column_ == a_.in_c && step == a_.in_c) copy_signed(from, (inside.end - inside.first) * column_, to + inside.first * column_);
    else
      for (int32_t k = inside.first; k < inside.end; ++k, from += step) copy_signed(from, a_.in_c, to + k * column_);
    outside(inside.end, columns);
  }

  const PackedConv2dArgs& a_;
  const int32_t column_, window_;  // bytes
  const bool shared_;              // windows side by side share columns
  const uint8_t zero_;
  const uint8_t* at_[kMostWindows];
  alignas(64) uint8_t room_[kRoom + kHostBlock];
};

// The tiles from number `first` on, up to a panel of them. `blocks`: their weights in blocks, or null where they stand so.
template <Packing p>
HostPanel panel_at(const PackedConv2dArgs& a, const int8_t* packed, const int8_t* blocks, int32_t first) {
  const int32_t length = a.length(), rest = packed_tiles(a.out_c) - first;
  HostPanel panel{};
  panel.tiles = rest < kHostTiles ? rest : kHostTiles;
  panel.blocks = in_blocks(length) / kHostBlock;
  panel.shift = p == Packing::mve_4x16 ? 31 : 32;
  panel.zero = a.y_zero;
  panel.filters = a.out_c < kHostTile ? a.out_c : kHostTile;
  for (int32_t t = 0; t < panel.tiles; ++t) {
    const int8_t* const tile = packed + (first + t) * packed_tile_bytes(p, length);
    panel.weights[t] = blocks ? blocks + t * in_blocks(length) * kHostTile : tile;
    panel.offset[t] = first_of_tile(a.out_c, first + t);
    for (int32_t f = 0; f < kHostTile; ++f) {
      const PackedNumbers n = packed_numbers<p>(tile, length, f);
      panel.first[t][f] = n.first, panel.multiplier[t][f] = n.multiplier;
    }
  }
  return panel;
}

}  // namespace

template <Packing p>
bool packed_conv2d_s8_host(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, HostPanelKernel run, int8_t* y) {
  const int32_t length = a.length(), tile_room = in_blocks(length) * kHostTile, tiles = packed_tiles(a.out_c);
  if (a.has_shifts || tile_room > kRoom) return false;
  constexpr bool kInBlocks = p == Packing::mve_4x16;
  alignas(64) int8_t weights[kInBlocks ? 1 : kWeightsRoom];
  Windows windows(a);
  const int64_t bytes = packed_tile_bytes(p, length);
  const int32_t at_once = kInBlocks ? tiles : kWeightsRoom / tile_room / kHostTiles * kHostTiles, all = a.n * a.out_h * a.out_w;
  for (int32_t begin = 0; begin < tiles; begin += at_once) {
    const int32_t end = tiles - begin < at_once ? tiles : begin + at_once;
    if constexpr (!kInBlocks)
      for (int32_t t = begin; t < end; ++t) Unpacked(a, weights + (t - begin) * tile_room).put_tile(packed + t * bytes);
    for (int32_t done = 0, here = 0; done < all; done += here) {
      here = windows.gather(x, done);
      int8_t* places[kMostWindows];
      int32_t row = done / a.out_w, ow = done % a.out_w;
      for (int32_t i = 0; i < here; ++i) {
        places[i] = y + row * a.y_row + ow * a.y_step;
        if (++ow == a.out_w) ow = 0, ++row;
      }
      for (int32_t t = begin; t < end; t += kHostTiles) {
        HostPanel panel = panel_at<p>(a, packed, kInBlocks ? nullptr : weights + (t - begin) * tile_room, t);
        if (panel.tiles > end - t) panel.tiles = end - t;
        run(panel, windows.at(), places, here);
      }
    }
  }
  return true;
}

template bool packed_conv2d_s8_host<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*, const int8_t*, HostPanelKernel, int8_t*);
template bool packed_conv2d_s8_host<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*, const int8_t*, HostPanelKernel, int8_t*);

}  // namespace deuteron
