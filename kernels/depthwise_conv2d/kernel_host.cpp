// SPDX-License-Identifier: Apache-2.0
// A band of the padded image is copied, the columns of a row sorted by what is left of them when
// divided by the stride. Then an element and its neighbour read neighbours under every tap,
// whatever the stride: a row of results is one list (row_host.h). Only where channels are many, and
// no multiple of a block, is each window a list.
#include "kernels/depthwise_conv2d/kernel_host.h"

#include <cstring>

#include "kernels/image/window.h"

namespace deuteron {
namespace {

// bytes of an image: with results they stay in a first-level cache
constexpr int64_t kBand = 1 << 15;
constexpr int64_t kRoom = 160 << 10;  // where the rows of one output row take more
constexpr int64_t kBlocksRoom = 160
                                << 10;  // of a call whose weights nobody has brought into blocks
constexpr int32_t kMostTaps = 1024;
constexpr int32_t kMostPeriods = 16, kFewChannels = 32;  // of blocks that a row's list repeats: as
                                                         // many as a second-level cache has at hand

constexpr int32_t greatest_common_divisor(int32_t a, int32_t b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

struct Lists {
  explicit Lists(const DepthwiseConv2dArgs& a)
      : periods(a.out_c / greatest_common_divisor(a.out_c, kHostBlock)), of_row(true) {
    if (periods <= kMostPeriods || a.out_c < kFewChannels) return;
    periods = (a.out_c + kHostBlock - 1) / kHostBlock, of_row = false;
  }
  int32_t periods;  // of a list's blocks
  bool of_row;      // a list is a row, not a window
};

// Where columns stand in the room. A row has phases, of which each has every stride_w-th column.
struct Band {
  explicit Band(const DepthwiseConv2dArgs& a) {
    const int64_t reach_h = int64_t{a.kernel_h - 1} * a.dilation_h + 1,
                  reach_w = int64_t{a.kernel_w - 1} * a.dilation_w + 1;
    const int64_t all = a.stride_w < reach_w ? a.stride_w : reach_w,
                  row = (a.out_w + (reach_w - 1) / a.stride_w) * all * a.in_c;
    if (row > kRoom / reach_h) return;
    phases = static_cast<int32_t>(all), row_bytes = static_cast<int32_t>(row),
    phase_bytes = row_bytes / phases;
    const int64_t rows_in_band = kBand / row,
                  fit = rows_in_band < reach_h ? 1 : (rows_in_band - reach_h) / a.stride_h + 1;
    windows_h = static_cast<int32_t>(fit < a.out_h ? fit : a.out_h);
  }
  bool has_room() const { return windows_h > 0; }

  int32_t windows_h = 0, phases = 0;  // those that taps read
  int32_t row_bytes = 0, phase_bytes = 0;
};

int32_t groups_of(const DepthwiseConv2dArgs& a, const HostRowForm& form) {
  return (a.kernel_h * a.kernel_w + form.group - 1) / form.group;
}

// Columns phase, phase + stride_w, .. of a row of the image, which may lie outside.
void fill_phase(const DepthwiseConv2dArgs& a, const HostRowForm& form, const int8_t* image,
                int32_t h, int32_t phase, int32_t bytes, uint8_t* to) {
  const int32_t columns = bytes / a.in_c;
  const Taps inside =
      h >= 0 && h < a.in_h ? taps_inside(phase - a.pad_w, columns, a.stride_w, a.in_w) : Taps{0, 0};
  const auto fill = [&](int32_t begin, int32_t end) {
    std::memset(to + begin * a.in_c, -a.x_offset + form.offset,
                static_cast<size_t>((end - begin) * a.in_c));
  };
  fill(0, inside.first);
  if (inside.first < inside.end) {
    const int8_t* const from =
        image + (h * a.in_w + phase - a.pad_w + inside.first * a.stride_w) * a.in_c;
    const int32_t count = inside.end - inside.first;
    uint8_t* const first = to + inside.first * a.in_c;
    if (a.stride_w == 1) form.copy(from, 0, count * a.in_c, 1, first);
    else form.copy(from, int64_t{a.stride_w} * a.in_c, a.in_c, count, first);
  }
  fill(inside.end, columns);  // behind what copy() may have written
}

// Number k of a list's blocks.
void put_block(const DepthwiseConv2dArgs& a, const HostRowForm& form, const Lists& lists,
               const int8_t* weight, const int32_t* bias, int32_t k, bool is_plain, int8_t* block) {
  std::memset(block, 0, static_cast<size_t>(host_block_bytes(groups_of(a, form))));
  auto& n = *reinterpret_cast<HostBlockNumbers*>(block);
  int8_t* const weights = block + sizeof n;
  for (int32_t e = 0; e < kHostBlock; ++e) {
    const int32_t c = lists.of_row ? (k * kHostBlock + e) % a.out_c : k * kHostBlock + e,
                  at = form.place(e);
    if (c >= a.out_c) return;
    uint32_t sum = 0;
    for (int32_t t = 0; t < a.kernel_h * a.kernel_w; ++t) {
      const int16_t w = weight[t * a.out_c + c];  // its low byte stands first
      std::memcpy(
          weights + t / form.group * kHostGroupBytes + at * 4 + t % form.group * form.weight_bytes,
          &w, static_cast<size_t>(form.weight_bytes));
      sum += static_cast<uint32_t>(int32_t{w});
    }
    // Taps outside read the zero point, so that the offset has a part in every sum.
    const uint32_t added = sum * static_cast<uint32_t>(a.x_offset - form.offset);
    n.first[at] = static_cast<int32_t>(static_cast<uint32_t>(bias ? bias[c] : 0) + added);
    n.multiplier[at] = a.multiplier[c] * (is_plain ? 2 : 1);
    if (at > 0) n.next_multiplier[at - 1] = n.multiplier[at];
    const int32_t shift = a.shift[c];
    n.left[at] = shift > 0 ? shift : 0;
    n.right_but_one[at] = shift < 0 ? -shift - 1 : 0;
    n.halves[at] = shift < 0 ? 1 : 0;
  }
}

// The rows of results from oh on, whose input begins in the room.
void run_band(const HostDepthwiseConv2d& conv, const Band& band, const uint8_t* room, int32_t rows,
              int8_t* y) {
  const DepthwiseConv2dArgs& a = conv.args;
  const uint8_t* taps[kMostTaps + 3];
  const Lists lists(a);
  const int32_t all = groups_of(a, *conv.form) * conv.form->group,
                count = lists.of_row ? 1 : a.out_w;
  const HostRow row{conv.blocks,
                    lists.periods,
                    taps,
                    a.kernel_h * a.kernel_w,
                    lists.of_row ? a.out_w * a.out_c : a.out_c,
                    a.y_zero,
                    a.y_min,
                    a.y_max,
                    conv.is_plain};
  for (int32_t oh = 0; oh < rows; ++oh) {
    for (int32_t kh = 0, t = 0; kh < a.kernel_h; ++kh)
      for (int32_t kw = 0; kw < a.kernel_w; ++kw) {
        const int32_t column = kw * a.dilation_w, in_row = column % a.stride_w * band.phase_bytes +
                                                           column / a.stride_w * a.in_c;
        taps[t++] = room + (int64_t{oh} * a.stride_h + kh * a.dilation_h) * band.row_bytes + in_row;
      }
    for (int32_t t = row.tap_count; t < all; ++t) taps[t] = taps[0];  // their weights are zero
    for (int32_t list = 0; list < count; ++list, y += row.elements) {
      conv.form->run(row, y);
      for (int32_t t = 0; t < all && list + 1 < count; ++t) taps[t] += a.in_c;
    }
  }
}

}  // namespace

int64_t depthwise_conv2d_host_bytes(const DepthwiseConv2dArgs& a, const HostRowForm& form) {
  if (a.depth_multiplier != 1 || a.x_offset < -127 || a.x_offset > 128) return 0;
  if (int64_t{a.kernel_h} * a.kernel_w > kMostTaps || !Band(a).has_room()) return 0;
  for (int32_t c = 0; c < a.out_c; ++c)
    if (a.multiplier[c] < 0) return 0;
  return int64_t{Lists(a).periods} * host_block_bytes(groups_of(a, form));
}

HostDepthwiseConv2d order_depthwise_conv2d(const DepthwiseConv2dArgs& a, const HostRowForm& form,
                                           const int8_t* weight, const int32_t* bias, void* room) {
  const Lists lists(a);
  auto* const blocks = static_cast<int8_t*>(room);
  bool is_plain = true;
  for (int32_t c = 0; c < a.out_c; ++c)
    is_plain = is_plain && a.shift[c] == 0 && a.multiplier[c] < 1 << 30;
  for (int32_t k = 0; k < lists.periods; ++k)
    put_block(a, form, lists, weight, bias, k, is_plain,
              blocks + int64_t{k} * host_block_bytes(groups_of(a, form)));
  return {a, &form, blocks, is_plain};
}

void run_depthwise_conv2d(const HostDepthwiseConv2d& conv, const int8_t* x, int8_t* y) {
  alignas(64) uint8_t room[kRoom + kHostBlock];
  const DepthwiseConv2dArgs& a = conv.args;
  const Band band(a);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0, rows = 0; oh < a.out_h; oh += rows) {
      rows = a.out_h - oh < band.windows_h ? a.out_h - oh : band.windows_h;
      uint8_t* to = room;
      for (int32_t r = 0; r < (rows - 1) * a.stride_h + (a.kernel_h - 1) * a.dilation_h + 1; ++r)
        for (int32_t phase = 0; phase < band.phases; ++phase, to += band.phase_bytes)
          fill_phase(a, *conv.form, x, oh * a.stride_h - a.pad_h + r, phase, band.phase_bytes, to);
      std::memset(to, 0, kHostBlock);  // is read, for results that nobody keeps
      run_band(conv, band, room, rows, y);
      y += rows * a.out_w * a.out_c;
    }
}

bool depthwise_conv2d_s8_host(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                              const int32_t* bias, const HostRowForm& form, int8_t* y) {
  alignas(64) int8_t room[kBlocksRoom];
  const int64_t bytes = depthwise_conv2d_host_bytes(a, form);
  if (bytes == 0 || bytes > kBlocksRoom) return false;
  run_depthwise_conv2d(order_depthwise_conv2d(a, form, weight, bias, room), x, y);
  return true;
}

}  // namespace deuteron
