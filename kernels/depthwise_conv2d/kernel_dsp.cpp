// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution with the DSP extension. 3x3 with stride 1 or 2: by planes of four channels
// (planes_dsp.h), and so up to 16 taps of one row and small windows of several, with stride 1 or of
// four or five columns with stride 2. One input channel: a convolution, with the filters turned.
// Else four channels of a pixel at a time (taps_dsp.h).
#include <cstring>

#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/planes.h"
#include "kernels/depthwise_conv2d/planes_dsp.h"
#include "kernels/depthwise_conv2d/taps_dsp.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/depthwise_conv2d/turned.h"
#include "kernels/image/window.h"

// The work is done in planes_dsp.S.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif

namespace deuteron {
namespace {

static_assert(sizeof(int16_t) * kRowElements == 176 && sizeof(DspRowWeight) == 72 &&
                  sizeof(int32_t) * kRowOutputs == 256,
              "planes_dsp.S");

constexpr int32_t kPlane = kPlaneRows * kPlaneRow;  // elements

struct Block {
  const DepthwiseConv2dArgs& a;
  const int8_t* x;  // the image, at the first of the four channels
  int8_t* y;
  DspChannel channels[kPlanes];
};

// Whether sums that begin with `bias` may stand to the left: sixteen products do not reach 2^19, so
// that no sum reaches 2^31.
bool has_room(int32_t bias, int32_t left) {
  const int32_t most = 1 << (30 - left);
  return bias < most && bias > -most;
}

// What becomes of the sums of a channel that is not plain; by how much they stand to the left.
//   up: multiply_high() and the shift are one: floor((sum * multiplier + 2^30 + 2^(30 + right)) /
//   2^(31 + right)), where what is negative need not be told apart: with a zero point of -128 it
//   becomes -128 anyway. Sums stand so far to the left that the high word of the product is that
//   quotient and kUpShift bits below it, where `added` has both halves.
int32_t fill_finish(const DepthwiseConv2dArgs& a, int32_t shift, bool is_whole, DspChannel& d) {
  constexpr int32_t kMostLeft = 8,
                    kMostRight = 22;  // of weights in halves of a word; `added` stays below 2^30
  const int32_t right = -shift;
  const bool is_small = right >= 0 && has_room(d.first, 1);
  if (is_small && is_whole && d.multiplier >= 0 && right <= kMostRight) {
    const int32_t left = kUpShift + 1 - right;
    if (a.y_zero == -128 && left > 1 && left <= kMostLeft && has_room(d.first, left)) {
      d.added = a.y_zero * (1 << kUpShift) + (1 << (kUpShift - 1)) + (1 << (left - 2));
      d.finish = DspChannelFinish::up;
      return left;
    }
    if (right > 0 || a.y_zero == -128) {
      d.right = right, d.added = (2 * a.y_zero + 1) * (1 << right) >> 1;
      d.finish = DspChannelFinish::away;
      return 1;
    }
  }
  d.added = a.y_zero, d.finish = is_small ? DspChannelFinish::small : DspChannelFinish::any;
  d.left = right < 0 ? shift : 0, d.right = d.left + right;
  return 0;
}

// The lower halves of both. gcc 12 makes two instructions of it.
uint32_t halves(int32_t lower, int32_t upper) {
  uint32_t word;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(word) : "r"(lower), "r"(upper));
  return word;
}

// All of four channels but their weights; by how much these are scaled.
void fill_channels(const DepthwiseConv2dArgs& a, const int32_t* bias, int32_t c,
                   DspChannel (&channels)[kPlanes], int32_t (&scales)[kPlanes]) {
  const bool is_whole = a.y_min == -128 && a.y_max == 127;
  for (int32_t i = 0; i < kPlanes; ++i) {
    DspChannel& d = channels[i];
    d.first = bias ? bias[c + i] : 0, d.multiplier = a.multiplier[c + i];
    int32_t left = 0;
    if (is_whole && a.shift[c + i] == 0 && d.multiplier >= 0 && d.multiplier < 1 << 30)
      d.multiplier *= 2, d.added = a.y_zero, d.finish = DspChannelFinish::plain;
    else left = fill_finish(a, a.shift[c + i], is_whole, d);
    scales[i] = 1 << left;
    d.first *= scales[i];
  }
}

// Weights of a row of taps of one channel, as DspRowWeight.
void fill_taps(const DepthwiseConv2dArgs& a, const int8_t* from, int32_t scale, uint32_t* to) {
  const int32_t next = a.out_c, step = 2 * next;
  int32_t before = 0, taps = a.kernel_w;
  for (; taps > 1; taps -= 2, from += step, to += 2) {
    const int32_t even = from[0] * scale, odd = from[next] * scale;
    to[0] = halves(even, odd), to[1] = halves(before, even), before = odd;
  }
  const int32_t last = taps > 0 ? *from * scale : 0;
  to[0] = static_cast<uint16_t>(last), to[1] = halves(before, last);
}

// ---- windows of 3x3

void fill_block(Block& b, const int8_t* weight, const int32_t* bias, int32_t c) {
  const DepthwiseConv2dArgs& a = b.a;
  int32_t scales[kPlanes];
  fill_channels(a, bias, c, b.channels, scales);
  for (int32_t i = 0; i < kPlanes; ++i)
    for (int32_t kh = 0; kh < 3; ++kh) {
      const int8_t* w = weight + kh * 3 * a.out_c + c + i;
      const int32_t w0 = w[0] * scales[i], w1 = w[a.out_c] * scales[i],
                    w2 = w[2 * a.out_c] * scales[i];
      b.channels[i].weight[2 * kh] = halves(w0, w1);
      b.channels[i].weight[2 * kh + 1] = halves(w1, w2);
    }
}

// Four elements a step: of the few that a row has, a call of memset would take 60 instructions. Up
// to three more than `count` become 0, which the row has room for.
void clear_row(int16_t* row, int32_t count) {
  static_assert(kPlaneRow % 4 == 0);
  for (int16_t* const end = row + count; row < end; row += 4) {
    std::memset(row, 0, 4 * sizeof *row);
    asm volatile("" ::: "memory");  // else the compiler makes that call of the loop
  }
}

// The input of `rows` rows of the planes, from row ih on; rows outside are 0.
[[gnu::noinline]] void fill_planes(const Block& b, const PlaneColumns& k, int32_t ih, int32_t rows,
                                   int16_t* planes) {
  const DepthwiseConv2dArgs& a = b.a;
  const uint32_t offset = static_cast<uint32_t>(a.x_offset) & 0xffff;
  const Taps inside = taps_inside(ih, rows, 1, a.in_h);
  for (int32_t r = inside.first > 0 ? 0 : inside.end; r < rows;) {
    for (int32_t p = 0; p < kPlanes; ++p) clear_row(planes + p * kPlane + r * kPlaneRow, k.count);
    if (++r == inside.first) r = inside.end;
  }
  if (inside.end <= inside.first || k.end <= k.left) return;
  const int8_t* from =
      b.x + ((ih + inside.first) * a.in_w + k.begin * a.stride_w - a.pad_w + k.left) * a.in_c;
  const DspFill fill{from,
                     a.in_c,
                     a.in_w * a.in_c,
                     planes + inside.first * kPlaneRow + k.left,
                     2 * kPlane,
                     k.end - k.left,
                     inside.end - inside.first,
                     offset << 16 | offset};
  deuteron_fill_planes_dsp(&fill);
}

// Four channels of some columns of every row.
void run_columns(const Block& b, const PlaneColumns& k, int16_t* planes) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t s = a.stride_w, row = a.out_w * a.out_c, at_once = (kPlaneRows - 3) / s + 1;
  DspPlane d{nullptr, a.out_c, 0, row, k.width / 2, k.width % 2, a.y_min, a.y_max};
  for (int32_t r = 0; r < a.out_h; r += at_once) {
    d.rows = least(at_once, a.out_h - r);
    fill_planes(b, k, r * s - a.pad_h, (d.rows - 1) * s + 3, planes);
    for (int32_t p = 0; p < kPlanes; ++p) {
      d.y = b.y + r * row + k.begin * a.out_c + p;
      (s == 1 ? deuteron_depthwise_s1_dsp : deuteron_depthwise_s2_dsp)(planes + p * kPlane,
                                                                       b.channels + p, &d);
    }
  }
}

void run_planes(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                const int32_t* bias, int8_t* y) {
  const int32_t most =
      a.stride_w == 1
          ? kPlaneRow - 4
          : kPlaneRow / 2 - 2;  // outputs that a row of a plane is enough for, an even number
  Block b{a, nullptr, nullptr, {}};
  for_planes<int16_t, kPlaneRow>(
      a, most, [&b, x, weight, bias, y](const PlaneColumns& k, int32_t first, int16_t* planes) {
        fill_block(b, weight, bias, first);
        b.x = x + first, b.y = y + first;
        run_columns(b, k, planes);
      });
}

// ---- windows of several rows

DspWindowKind window_kind(const DepthwiseConv2dArgs& a) {
  return window_pairs(a) != 3 ? DspWindowKind::any
         : a.stride_w == 1    ? DspWindowKind::five
                              : DspWindowKind::apart;
}

// Four channels of some columns of every row.
[[gnu::noinline]] void run_window_columns(const Block& b, const PlaneColumns& k,
                                          const uint32_t (&weights)[kPlanes][2 * kMostPairs],
                                          int32_t c, int16_t* planes) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t at_once = (kPlaneRows - a.kernel_h) / a.stride_h + 1;
  const int32_t row = a.out_w * a.out_c;
  int32_t sums[kPlaneRow];
  DspWindow w{nullptr,
              nullptr,
              a.out_c,
              k.width,
              nullptr,
              sums,
              window_pairs(a),
              nullptr,
              a.kernel_h,
              window_kind(a),
              0,
              a.stride_h * kPlaneRow * 2,
              row};
  int8_t* y = b.y + k.begin * a.out_c;
  for (int32_t r = 0, rows = 0; r < a.out_h; r += rows, y += rows * row) {
    rows = least(at_once, a.out_h - r);
    fill_planes(b, k, r * a.stride_h - a.pad_h, (rows - 1) * a.stride_h + a.kernel_h, planes);
    for (int32_t p = 0; p < kPlanes; ++p) {
      w.channel = b.channels + p, w.weight = weights[p], w.y = y + p;
      w.plane = planes + p * kPlane;
      const bool has_sums = w.channel->finish >= DspChannelFinish::small;
      w.out_rows = has_sums ? 1 : rows;
      for (int32_t h = 0; h < rows; h += w.out_rows, w.plane += a.stride_h * kPlaneRow) {
        deuteron_depthwise_window_dsp(&w);
        if (!has_sums) break;
        for (int32_t i = 0; i < k.width; ++i) w.y[i * a.out_c] = finish_any_sum(a, c + p, sums[i]);
        w.y += row;
      }
    }
  }
}

void run_window_planes(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                       const int32_t* bias, int8_t* y) {
  // the last four outputs read so many elements behind their first
  const int32_t read = 2 * window_pairs(a) + 4 * a.stride_w - 2,
                most = (kPlaneRow - read) / (4 * a.stride_w) * 4 + 4;
  Block b{a, nullptr, nullptr, {}};
  for_planes<int16_t, kPlaneRow>(
      a, most, [&a, &b, x, weight, bias, y](const PlaneColumns& k, int32_t first, int16_t* planes) {
        int32_t scales[kPlanes];
        uint32_t weights[kPlanes][2 * kMostPairs];
        fill_channels(a, bias, first, b.channels, scales);
        for (int32_t i = 0; i < kPlanes; ++i)
          for (int32_t h = 0; h < a.kernel_h; ++h)
            fill_taps(a, weight + h * a.kernel_w * a.out_c + first + i, scales[i],
                      weights[i] + h * 2 * window_pairs(a));
        b.x = x + first, b.y = y + first;
        run_window_columns(b, k, weights, first, planes);
      });
}

// ---- windows of one row

struct RowBlock {
  DspChannel channels[kPlanes];
  DspRowWeight weight[kPlanes];
};

int32_t pairs_of(const DepthwiseConv2dArgs& a) { return a.kernel_w > 1 ? a.kernel_w / 2 + 1 : 2; }

void fill_row_block(const DepthwiseConv2dArgs& a, const int8_t* weight, const int32_t* bias,
                    int32_t c, RowBlock& b) {
  int32_t scales[kPlanes];
  fill_channels(a, bias, c, b.channels, scales);
  for (int32_t i = 0; i < kPlanes; ++i) {
    fill_taps(a, weight + c + i, scales[i], b.weight[i]);
    if (a.kernel_w == 1) b.weight[i][2] = b.weight[i][3] = 0;
  }
}

// Four channels of the outputs begin..begin+width-1 of the row x; null: it lies outside.
void run_row(const DepthwiseConv2dArgs& a, const RowBlock& b, const int8_t* x, int32_t begin,
             int32_t width, int32_t c, int8_t* y) {
  alignas(4) int16_t planes[kPlanes * kRowElements];
  int32_t sums[kPlanes][kRowOutputs];
  const uint32_t offset = static_cast<uint32_t>(a.x_offset) & 0xffff;
  const Taps inside = taps_inside(begin - a.pad_w, width + a.kernel_w - 1, 1, x ? a.in_w : 0);
  if (inside.end - inside.first < width + a.kernel_w - 1) std::memset(planes, 0, sizeof planes);
  if (inside.first < inside.end) {
    const DspFill fill{x + (begin - a.pad_w + inside.first) * a.in_c,
                       a.in_c,
                       0,
                       planes + inside.first,
                       2 * kRowElements,
                       inside.end - inside.first,
                       1,
                       offset << 16 | offset};
    deuteron_fill_planes_dsp(&fill);
  }
  const DspRow row{b.weight, planes, b.channels, y, sums, a.out_c, width, pairs_of(a)};
  deuteron_depthwise_row_dsp(&row);
  for (int32_t i = 0; i < kPlanes; ++i)
    if (b.channels[i].finish >= DspChannelFinish::small)
      for (int32_t k = 0; k < width; ++k) y[k * a.out_c + i] = finish_any_sum(a, c + i, sums[i][k]);
}

void run_rows(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
              const int32_t* bias, int8_t* y) {
  for (int32_t done = 0; done < a.out_c; done += kPlanes) {
    const int32_t c = least(done, a.out_c - kPlanes);  // the last ones overlap
    RowBlock b;
    fill_row_block(a, weight, bias, c, b);
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const int8_t* const row = ih >= 0 && ih < a.in_h ? x + ih * a.in_w * a.in_c + c : nullptr;
      for (int32_t begin = 0; begin < a.out_w; begin += kRowOutputs)
        run_row(a, b, row, begin, least(kRowOutputs, a.out_w - begin), c,
                y + (oh * a.out_w + begin) * a.out_c + c);
    }
  }
}

}  // namespace

void depthwise_conv2d_s8_dsp_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                 const int8_t* weight, const int32_t* bias, int8_t* y) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    run_planes(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_dsp_channels(const DepthwiseConv2dArgs& a, const int8_t* x,
                                      const int8_t* weight, const int32_t* bias, int8_t* y) {
  const auto run = has_row_planes(a)      ? run_rows
                   : has_window_planes(a) ? run_window_planes
                                          : run_taps;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    run(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_dsp_turned(const DepthwiseConv2dArgs& a, const int8_t* x,
                                    const int8_t* weight, const int32_t* bias, int8_t* y) {
  run_turned<conv2d_s8_dsp>(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_dsp(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                             const int32_t* bias, int8_t* y) {
  if (turned_fit(a, kDspTurned)) return depthwise_conv2d_s8_dsp_turned(a, x, weight, bias, y);
  if (a.out_c < kPlanes) return depthwise_conv2d_s8(a, x, weight, bias, y);
  (has_planes(a) ? depthwise_conv2d_s8_dsp_3x3 : depthwise_conv2d_s8_dsp_channels)(a, x, weight,
                                                                                   bias, y);
}

}  // namespace deuteron
