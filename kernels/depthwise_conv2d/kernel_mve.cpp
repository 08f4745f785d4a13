// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution with the M-profile Vector Extension. 3x3, and some taps of one row, with
// stride 1 or 2: by patches of a strip (strip_mve.h), 16 channels at a time. Else 8 channels at a
// time, by columns (columns_mve.h) or a tap after the other. One input channel: by columns or as a
// convolution, with the filters turned.
#include <arm_mve.h>

#include <cstring>

#include "kernels/conv2d/kernel.h"
#include "kernels/dense/dot_mve.h"
#include "kernels/depthwise_conv2d/columns_mve.h"
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/strip_mve.h"
#include "kernels/depthwise_conv2d/taps_mve.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/depthwise_conv2d/turned.h"
#include "kernels/image/window.h"

namespace deuteron {
namespace {

// ---- a tap after the other

constexpr int32_t kTapChannels = 8;

// One image. Without a multiplier output channel c reads input channel c; else c /
// depth_multiplier, by a gather, and 8 go together.
[[gnu::noinline]] void run_taps(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                                const int32_t* bias, int8_t* y) {
  const bool own_channels = a.depth_multiplier == 1;
  const int32_t step = a.dilation_w * a.in_c, together = own_channels ? a.out_c : kTapChannels;
  alignas(16) uint16_t others[kTapChannels];
  MveTaps t{nullptr,
            nullptr,
            y,
            bias,
            a.multiplier,
            a.shift,
            nullptr,
            0,
            0,
            0,
            step,
            a.out_c,
            a.dilation_h * a.in_w * a.in_c,
            a.kernel_w * a.out_c,
            a.x_offset,
            a.y_zero,
            a.y_min,
            a.y_max};
  for (int32_t c = 0; c < a.out_c; c += together) {
    const int32_t own = c / a.depth_multiplier;
    t.channels = a.out_c - c < together ? a.out_c - c : together;
    if (!own_channels) {
      t.others = others;
#pragma GCC unroll 1
      for (int32_t i = 0; i < kTapChannels; ++i)
        others[i] = static_cast<uint16_t>((c + i) / a.depth_multiplier - own);
    }
    t.y = y + c;
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, t.y += a.out_c) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        t.taps = w.end - w.first, t.rows = t.taps > 0 ? h.end - h.first : 0;
        t.x = x + ((ih + h.first * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c +
              own;
        t.filter = weight + (h.first * a.kernel_w + w.first) * a.out_c + c;
        deuteron_taps_mve(&t);
      }
    }
    t.multiplier += together, t.shift += together;
    if (bias) t.bias += together;
  }
}

// ---- 3x3 by patches, 16 channels at a time

struct Strips {
  int8_t* room;
  int32_t bytes;
  int32_t columns_at_once() const { return (bytes - kMorePatches) / kColumnBytes; }
  MvePatch* patches() const {
    return reinterpret_cast<MvePatch*>(room + columns_at_once() * kStripColumn);
  }
};

// What 16 channels have of their own.
struct Kernels {
  int8_t weight[16 + 16 * kStripChannels];
  MveChannelFinish finish[kStripChannels];
};

// Bytes of a patch from a column of taps to the next.
int32_t column_of(const DepthwiseConv2dArgs& a) { return a.kernel_h == 1 ? 1 : 4; }

// What is not a tap is 0 before and remains so.
[[gnu::noinline]] void fill_kernels(const DepthwiseConv2dArgs& a, const int8_t* weight,
                                    const int32_t* bias, int32_t c, int32_t count, Kernels& k) {
  const uint8x16_t places = vidupq_n_u8(0, 1);
  const uint8x16_t words = vshlq_n_u8(places, 4);
  const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count));
  const int32_t height = a.kernel_h, width = a.kernel_w, column = column_of(a), next = a.out_c;
  const int8_t* from = weight + c;
  for (int32_t h = 0; h < height; ++h) {
    int8_t* to = k.weight + 16 + h;
    for (int32_t w = width; w > 0; --w, from += next, to += column)
      vstrbq_scatter_offset_p_s8(to, words, vld1q_z_s8(from, here), here);
  }
  fill_finishes(a, bias, c, count, k.weight + 16, false, k.finish);
}

// How a call is cut into strips.
struct PatchPlan {
  int32_t width, columns;   // outputs of a row that go together, and of the strip
  int32_t groups, at_once;  // of rows, in all and in a strip
  int32_t height, parts;    // output rows of a row group; groups of a row
};
PatchPlan plan_patches(const DepthwiseConv2dArgs& a, const Strips& strips) {
  const bool twice = a.stride_w == 2;
  const int32_t group = twice ? 4 : 2, at_once = strips.columns_at_once();
  PatchPlan p;
  p.width = twice ? (at_once - 2) / 2 : at_once - 2;
  p.width = p.width >= a.out_w ? a.out_w : p.width & -group;
  p.columns = (twice ? 2 * p.width : p.width) + 2;
  p.height = twice ? 1 : 2, p.parts = (p.width + group - 1) / group;
  p.groups = twice ? a.out_h : (a.out_h + 1) >> 1;
  const int32_t fit = at_once / p.columns;
  // The last ones begin a row early where the height is odd, so they are never all.
  p.at_once = fit < p.groups ? fit : !twice && a.out_h % 2 != 0 ? p.groups - 1 : p.groups;
  const int32_t row = a.out_w * a.out_c, rest = p.width % group;
  const PatchSteps step{p.columns * kStripColumn, group * a.stride_w * kStripColumn,
                        rest * a.stride_w * kStripColumn};
  list_patches(strips.patches(), p.at_once, p.width, group, step, a.out_c, p.height * row);
  return p;
}

// 16 channels, the outputs begin..begin+width-1 of every row. What lies outside x is its zero
// point; has_edges: the columns of the strip that do have it already.
void run_columns(const DepthwiseConv2dArgs& a, const int8_t* x, const Kernels& k, Strips strips,
                 const PatchPlan& p, int32_t begin, int32_t count, bool has_edges, int8_t* y) {
  const int32_t c = a.out_c, row = a.out_w * c, s = a.stride_w, row_x = a.in_w * a.in_c;
  const bool twice = s == 2;
  const int32_t gather[] = {0, 64, 128, 192};
  const int32_t scatter[] = {0, c, twice ? 2 * c : row, twice ? 3 * c : row + c};
  MveDepthwise d{strips.room, k.weight + 16, k.finish, nullptr, gather,           scatter, a.y_min,
                 a.y_max,     count,         4,        1,       strips.patches(), 0};
  alignas(16) int8_t outside[kStripChannels];
  vst1q_s8(outside, vdupq_n_s8(static_cast<int8_t>(-a.x_offset)));
  const uint32_t in_h = static_cast<uint32_t>(a.in_h);  // rows above x are large
  const int32_t iw = begin * s - a.pad_w, reach = a.in_w - iw;
  const int32_t left = iw >= 0           ? 0
                       : -iw < p.columns ? -iw
                                         : p.columns,
                end = reach > p.columns ? p.columns
                      : reach > left    ? reach
                                        : left;
  for (int32_t r = 0; r < p.groups; r += p.at_once) {
    const int32_t rows = p.groups - r < p.at_once ? p.groups - r : p.at_once;
    const int32_t first =
        p.height * (r + rows) > a.out_h ? a.out_h - p.height * rows : p.height * r;
    int8_t* strip = strips.room;
    int32_t ih = first * s - a.pad_h;
    for (int32_t i = 0; i < rows; ++i, ih += 2) {
      MveStripRows from;
      const int8_t* at = x + ih * row_x + (iw + left) * a.in_c;
#pragma GCC unroll 1
      for (int32_t h = 0; h < 4; ++h, at += row_x) {
        const bool inside = static_cast<uint32_t>(ih + h) < in_h;
        from.row[h] = inside ? at : outside, from.step[h] = inside ? a.in_c : 0;
      }
      if (r == 0 && !has_edges) {
        std::memset(strip, outside[0], static_cast<size_t>(left * kStripColumn));
        std::memset(strip + end * kStripColumn, outside[0],
                    static_cast<size_t>((p.columns - end) * kStripColumn));
      }
      deuteron_fill_strip_mve(&from, strip + left * kStripColumn, end - left, count);
      strip += p.columns * kStripColumn;
    }
    d.y = y + first * row + begin * c, d.further = rows * p.parts - 1;
    (twice ? deuteron_depthwise_s2_mve : deuteron_depthwise_s1_mve)(&d);
  }
}

// A function by itself, and the strips by value: else gcc 12 keeps less of its loops in registers.
[[gnu::noinline]] void run_patches(const DepthwiseConv2dArgs& a, const int8_t* x,
                                   const int8_t* weight, const int32_t* bias, Strips strips,
                                   int8_t* y) {
  Kernels k;
  std::memset(k.weight, 0, sizeof k.weight);
  const PatchPlan p = plan_patches(a, strips);
  for (int32_t c = 0; c < a.out_c; c += kStripChannels) {
    const int32_t count = a.out_c - c < kStripChannels ? a.out_c - c : kStripChannels;
    fill_kernels(a, weight, bias, c, count, k);
    for (int32_t begin = 0; begin < a.out_w; begin += p.width) {
      // the last ones overlap
      const int32_t from = begin + p.width > a.out_w ? a.out_w - p.width : begin;
      run_columns(a, x + c, k, strips, p, from, count, c > 0 && p.width == a.out_w, y + c);
    }
  }
}

// ---- windows of one row by patches

// `columns` from column iw of the row x on, which may lie outside; null: all do.
int8_t* fill_row(const DepthwiseConv2dArgs& a, const int8_t* x, int32_t iw, int32_t columns,
                 int32_t count, int8_t* strip) {
  alignas(16) int8_t outside[kStripChannels];
  vst1q_s8(outside, vdupq_n_s8(static_cast<int8_t>(-a.x_offset)));
  const int32_t next = 2 * a.stride_w, in_w = x == nullptr ? 0 : a.in_w;
  while (columns > 0) {
    MveStripRows rows;
#pragma GCC unroll 1
    for (int32_t i = 0; i < 4; ++i) {
      const bool inside = static_cast<uint32_t>(iw + i) < static_cast<uint32_t>(in_w);
      rows.row[i] = inside ? x + (iw + i) * a.in_c : outside,
      rows.step[i] = inside ? next * a.in_c : 0;
    }
    // Those that lie wholly inside, or behind the row, are alike.
    int32_t alike = iw < 0 ? 1 : iw < in_w ? (in_w - 4 + next - iw) >> a.stride_w : columns;
    alike = alike < 1 ? 1 : alike < columns ? alike : columns;
    strip = deuteron_fill_strip_mve(&rows, strip, alike, count);
    iw += next * alike, columns -= alike;
  }
  return strip;
}

// How many columns of a patch four outputs of a row reach over: with stride 1 every other one is in
// it, 16 elements side by side.
int32_t reach_of_row(const DepthwiseConv2dArgs& a) {
  const int32_t s = a.stride_w, words = (a.kernel_w + 3 * s + 3) / 4;
  return s == 1 ? 2 * words - 1 : words;
}

// 16 channels of the outputs begin..begin+width-1 of a row.
void run_row(const DepthwiseConv2dArgs& a, const int8_t* x, const Kernels& k, Strips strips,
             int32_t begin, int32_t width, int32_t count, int8_t* y) {
  const int32_t c = a.out_c, rest = width & 3, groups = width >> 2, s = a.stride_w;
  const int32_t iw = begin * s - a.pad_w, word = 2 * kStripColumn >> (s - 1),
                reach = reach_of_row(a);
  int8_t* strip = strips.room;
  if (rest > 0) strip = fill_row(a, x, iw, reach, count, strip);
  fill_row(a, x, iw + rest * s, reach + 2 * (groups - 1), count, strip);
  const int32_t gather[] = {0, word, 2 * word, 3 * word}, scatter[] = {0, 2 * c, c, 3 * c};
  const MveDepthwise d{strips.room,
                       k.weight + 16,
                       k.finish,
                       y,
                       gather,
                       scatter,
                       a.y_min,
                       a.y_max,
                       count,
                       2 * s,
                       s,
                       strips.patches(),
                       rest > 0 ? groups : groups - 1};
  deuteron_depthwise_s1_mve(&d);
}

[[gnu::noinline]] void run_rows(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                                const int32_t* bias, Strips strips, int8_t* y) {
  Kernels k;
  std::memset(k.weight, 0, sizeof k.weight);
  const int32_t most = (strips.columns_at_once() - 12) / 2 * 4;
  const int32_t width = a.out_w < most + 4 ? a.out_w : most;
  list_patches(strips.patches(), 1, width, 4, {0, 2 * kStripColumn, reach_of_row(a) * kStripColumn},
               a.out_c, 0);
  for (int32_t c = 0; c < a.out_c; c += kStripChannels) {
    const int32_t count = a.out_c - c < kStripChannels ? a.out_c - c : kStripChannels;
    fill_kernels(a, weight, bias, c, count, k);
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const int8_t* const row = ih >= 0 && ih < a.in_h ? x + ih * a.in_w * a.in_c + c : nullptr;
      for (int32_t begin = 0; begin < a.out_w; begin += width) {
        const int32_t from = begin + width > a.out_w ? a.out_w - width : begin;
        run_row(a, row, k, strips, from, width, count, y + (oh * a.out_w + from) * a.out_c + c);
      }
    }
  }
}

// ---- other windows, by columns

// False: it does not serve the call, or would take as many instructions as `others` for 8 channels
// of a row of outputs.
[[gnu::noinline]] bool run_by_columns(const DepthwiseConv2dArgs& a, const int8_t* x,
                                      const int8_t* weight, const int32_t* bias, const Strips& room,
                                      int32_t others, int8_t* y) {
  DepthwiseColumns columns(a, room.room, room.bytes);
  if (!columns.serves() || columns.instructions() >= others) return false;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    columns.run(x, weight, bias, y);
  return true;
}

// ---- one input channel

// Filters as a convolution has them. scratch: taps * out_c bytes for them first.
void run_one_channel(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                     const int32_t* bias, int8_t* scratch, int32_t scratch_bytes, int8_t* y) {
  const int32_t taps = a.kernel_h * a.kernel_w;
  turn_filters(a, weight, scratch);
  const int32_t filters = taps * a.out_c;
  conv2d_s8_mve(one_channel_conv(a), x, scratch, bias, scratch + filters, scratch_bytes - filters,
                y);
}

// ---- all of them

Strips strips_in(int8_t* stack, void* scratch, int32_t scratch_bytes) {
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(scratch) + 3) & ~uintptr_t{3},
                  end = reinterpret_cast<uintptr_t>(scratch) + scratch_bytes;
  if (scratch_bytes <= kStackStrip + 3) return {stack, kStackStrip};
  return {reinterpret_cast<int8_t*>(begin), static_cast<int32_t>(end - begin)};
}

// Of the only channel of x, which may be a convolution too.
[[gnu::noinline]] void run_alone(const DepthwiseConv2dArgs& a, const int8_t* x,
                                 const int8_t* weight, const int32_t* bias, void* scratch,
                                 int32_t scratch_bytes, int8_t* y) {
  alignas(16) int8_t stack[kStackStrip];
  const Strips strips = strips_in(stack, scratch, scratch_bytes);
  if (run_by_columns(a, x, weight, bias, strips, one_channel_instructions(a), y)) return;
  run_one_channel(a, x, weight, bias, static_cast<int8_t*>(scratch), scratch_bytes, y);
}

}  // namespace

void depthwise_conv2d_s8_mve_channels(const DepthwiseConv2dArgs& a, const int8_t* x,
                                      const int8_t* weight, const int32_t* bias, void* scratch,
                                      int32_t scratch_bytes, int8_t* y) {
  alignas(16) int8_t stack[kStackStrip];
  const Strips strips = strips_in(stack, scratch, scratch_bytes);
  const bool by_rows = has_row_patches(a);
  if (!by_rows && run_by_columns(a, x, weight, bias, strips, taps_instructions(a), y)) return;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    if (by_rows) run_rows(a, x, weight, bias, strips, y);
    else run_taps(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_mve_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                 const int8_t* weight, const int32_t* bias, void* scratch,
                                 int32_t scratch_bytes, int8_t* y) {
  alignas(16) int8_t stack[kStackStrip];
  const Strips strips = strips_in(stack, scratch, scratch_bytes);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    run_patches(a, x, weight, bias, strips, y);
}

void depthwise_conv2d_s8_mve(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                             const int32_t* bias, void* scratch, int32_t scratch_bytes, int8_t* y) {
  const auto others = is_alone(a, scratch_bytes) ? run_alone : depthwise_conv2d_s8_mve_channels;
  (has_patches(a) ? depthwise_conv2d_s8_mve_3x3 : others)(a, x, weight, bias, scratch,
                                                          scratch_bytes, y);
}

}  // namespace deuteron
