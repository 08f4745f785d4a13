// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/loop_work.h"

#include <algorithm>

#include "kernels/conv2d/packed_add/kernel.h"
#include "ops/families.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {
namespace {

constexpr i64 kVector = 16;  // bytes, and elements of a block that MVE takes at once

i64 up(i64 n, i64 to) { return (n + to - 1) / to * to; }
i64 parts(i64 n, i64 of) { return (n + of - 1) / std::max<i64>(of, 1); }

// ---- packed convolutions. mac: multiply-adds of filled-up tiles, with MVE blocks of them; result:
// results of those; tap: elements that are copied, with MVE vectors; window, line: windows and
// their rows of taps; constant: lines that reach outside; operand: elements of a tensor that is
// added.

// Windows of the places along one axis that reach outside.
i64 outside(i64 places, i64 stride, i64 pad, i64 taps, i64 extent) {
  i64 n = 0;
  for (i64 k = 0; k < places; k++) n += k * stride < pad || k * stride - pad + taps > extent;
  return n;
}

i64 lines_outside(const PackedConv2dArgs& a) {
  const i64 h = outside(a.out_h, a.stride_h, a.pad_h, (a.kernel_h - 1) * a.dilation_h + 1, a.in_h),
            w = outside(a.out_w, a.stride_w, a.pad_w, (a.kernel_w - 1) * a.dilation_w + 1, a.in_w);
  return i64{a.n} * (i64{a.out_h} * a.out_w - (a.out_h - h) * (a.out_w - w)) * a.kernel_h;
}

// With MVE pairs of windows, and some alone: constant is then the blocks of those.
struct Met {
  i64 paired, alone;
};
Met add_run(CpuWork& work, const PackedConv2dArgs& a, i64 windows, i64 in_pairs, i64 times = 1) {
  const i64 paired = std::clamp<i64>(in_pairs, 0, windows) / 2 * 2, alone = windows - paired,
            blocks = parts(a.length(), kVector);
  work.macs += times * paired * blocks * up(a.out_c, kPackedTile);
  work.results += times * paired * up(a.out_c, kPackedTile);
  work.constants += times * alone * blocks * up(a.out_c, 2 * kPackedTile);
  return {paired, alone};
}

// Windows that lie in x, of which the last ones may not be read to the end of their block. window:
// those that are alone; line: passes of a pair over the filters; tap: blocks behind the second one.
void add_in_place(CpuWork& work, const PackedConv2dArgs& a) {
  const i64 step = i64{a.stride_w} * a.in_c, row = i64{a.stride_h} * a.in_w * a.in_c,
            image = i64{a.in_h} * a.in_w * a.in_c, block = up(a.length(), kVector);
  const bool all = packed_conv2d_is_rows(a);
  const i64 rows = all ? 1 : i64{a.n} * a.out_h,
            windows = all ? i64{a.n} * a.out_h * a.out_w : a.out_w;
  for (i64 k = 0; k < rows; k++) {
    const i64 left = i64{a.n} * image - k / a.out_h * image - k % a.out_h * row - block;
    const Met met = add_run(work, a, windows, left < 0 ? 0 : left / step + 1);
    work.windows += met.alone;
    work.lines += met.paired * (a.out_c % kPackedTile == 0 ? 1 : 2);
    work.taps += met.paired * up(a.out_c, kPackedTile) * std::max<i64>(0, block / kVector - 2);
  }
}

// Columns of taps that are copied first, so many windows at a time as `room` holds. window: rows of
// such copies; line: those of windows.
void add_columns(CpuWork& work, const PackedConv2dArgs& a, i32 room, bool by_fours) {
  const i64 rows = i64{a.n} * a.out_h, column = i64{a.kernel_h} * a.in_c,
            most = std::max<i64>(1, packed_conv2d_windows_in(a, room));
  const i64 together =
      a.in_c < kVector ? std::min<i64>(kVector / a.in_c, (256 - a.in_c) / column + 1) : 1;
  for (i64 at = 0; at < a.out_w; at += most) {
    const i64 windows = std::min<i64>(most, a.out_w - at),
              columns = (windows - 1) * a.stride_w + a.kernel_w;
    const i64 met = by_fours ? up(windows, 4) : windows;
    work.lines += rows * (1 + add_run(work, a, met, met, rows).alone);
    work.windows += rows * a.kernel_h;
    work.taps += rows * a.kernel_h * parts(columns, together) * parts(a.in_c, kVector);
  }
}

LoopWork mve_work(const PackedDense& n, i64 scratch, CpuWork work) {
  const PackedConv2dArgs& a = n.a;
  if (packed_conv2d_is_in_one_piece(a)) return add_in_place(work, a), LoopWork{"in_place", work};
  const i32 most = packed_conv2d_columns_bytes(a),
            given = n.addition ? most : static_cast<i32>(std::min<i64>(scratch, most)),
            room = std::max(given, std::min(most, kPackedStackColumns)) - kPackedBlock;
  const bool by_fours = packed_conv2d_mve_meets(a, given) == 4;
  add_columns(work, a, room, by_fours);
  return {by_fours ? "fours" : "columns", work};
}

LoopWork core_work(const PackedDense& n, CpuWork work) {
  const PackedConv2dArgs& a = n.a;
  const bool is_dsp = n.packing == Packing::dsp_4x4;
  const i64 windows = i64{a.n} * a.out_h * a.out_w, together = is_dsp ? 2 : 4;
  const i64 met = up(windows, together), filters = is_dsp ? up(a.out_c, kPackedTile) : a.out_c;
  work.macs = met * filters * up(a.length(), kPackedQuad);
  work.results = met * filters;
  work.taps = met * a.length();
  work.windows = windows;
  work.lines = a.kernel_h * windows;
  work.constants = lines_outside(a);
  if (!is_dsp) return {"windows", work};
  const bool is_whole = a.in_c % kPackedQuad == 0;
  if (is_whole) return {packed_conv2d_is_rows(a) ? "pixels" : "whole", work};
  return {a.kernel_h == 3 && a.kernel_w * a.in_c == 9 ? "nines" : "ragged", work};
}

// Elements of a tensor that is added, some rows at a time: each time costs about as much as so many
// elements.
i64 added(const PackedDense& n, i64 scratch) {
  const PackedConv2dArgs& a = n.a;
  const bool has_room = scratch >= packed_conv2d_add_scratch_bytes(a, n.packing);
  const i64 times = a.n * parts(a.out_h, has_room ? packed_conv2d_add_rows(a) : 1);
  return i64{a.n} * a.out_h * a.out_w * a.out_c +
         times * (n.packing == Packing::mve_4x16 ? 128 : 32);
}

std::optional<LoopWork> packed_work(const Graph& g, const Node& node, const PackedDense& n) {
  const PackedConv2dArgs& a = n.a;
  if (n.form != PackedDense::Form::plain || packed_conv2d_is_apart(a)) return std::nullopt;
  CpuWork work;
  if (n.addition) work.operands = added(n, g.type(node.outputs.back()).bytes());
  LoopWork found;
  if (packed_conv2d_is_alone(a)) {
    const bool is_mve = n.packing == Packing::mve_4x16;
    const i64 filters = n.packing == Packing::scalar_1x4 ? kPackedTile : 2 * kPackedTile;
    work.results = a.out_c < kPackedTile && !is_mve ? a.out_c * kPackedTile : up(a.out_c, filters);
    work.macs = work.results * parts(a.length(), is_mve ? kVector : kPackedQuad);
    work.taps = a.length();
    if (is_mve) work.lines = work.results * std::max<i64>(0, parts(a.length(), kVector) - 2);
    found = {"alone", work};
  } else if (a.has_shifts && n.packing != Packing::scalar_1x4) {
    return std::nullopt;
  } else if (n.packing == Packing::mve_4x16) {
    found = mve_work(n, g.type(node.outputs.back()).bytes(), work);
  } else {
    found = core_work(n, work);
  }
  found.kernel =
      (n.addition ? "deuteron::packed_conv2d" : call_of(node.op)->name) + "/" + found.kernel;
  return found;
}

// ---- windows of an image, for each channel

struct ImageCall {
  Shape x, y;
  std::vector<std::vector<i64>> lists;  // of integers
};

ImageCall image_call(const Graph& g, const Node& node) {
  ImageCall c{g.type(node.inputs[0]).shape, g.type(node.outputs[0]).shape, {}};
  for (const KernelArg& arg : call_of(node.op)->args)
    if (arg.kind == KernelArg::Kind::integers && arg.integers.size() == 2)
      c.lists.push_back(arg.integers);
  return c;
}

// 3x3 by patches of strips (kernels/depthwise_conv2d/strip_mve.h). mac: patches; tap: columns of
// the strips; line: fills; constant: blocks of channels; window: runs.
CpuWork patches_work(const ImageCall& c, i64 stride, i64 scratch) {
  constexpr i64 kStack = 2192, kColumn = 68, kMore = 16;  // bytes
  const i64 channels = c.y[3], blocks = parts(channels, kVector), out_h = c.y[1], out_w = c.y[2];
  const i64 room = (std::max(scratch, kStack) - kMore) / kColumn, group = stride == 1 ? 2 : 4,
            height = stride == 1 ? 2 : 1;
  const i64 fit = (room - 2) / stride, width = fit >= out_w ? out_w : fit / group * group;
  const i64 begins = parts(out_w, width), groups = parts(out_h, height),
            columns = width * stride + 2, at_once = std::max<i64>(1, room / columns);
  const bool is_odd = out_h % height != 0 && at_once >= groups;
  const i64 runs = parts(groups, is_odd ? std::max<i64>(1, groups - 1) : at_once);
  CpuWork w;
  w.macs = begins * groups * parts(width, group) * channels;
  w.taps = begins * groups * columns * blocks;
  w.lines = begins * groups * blocks;
  w.constants = blocks;
  w.windows = begins * runs * channels;
  w.results = out_h * out_w * channels;
  return w;
}

// By planes of four channels (kernels/depthwise_conv2d/planes.h). mac: pairs of outputs of the
// four; line: rows of the result; tap, window: pixels and rows of x; constant: planes.
CpuWork planes_work(const ImageCall& c) {
  const i64 planes = parts(c.y[3], 4);
  CpuWork w;
  w.macs = c.y[1] * parts(c.y[2], 2) * planes;
  w.lines = c.y[1] * planes;
  w.taps = c.x[1] * c.x[2] * planes;
  w.windows = c.x[1] * planes;
  w.constants = planes;
  w.results = c.y[1] * c.y[2] * c.y[3];
  return w;
}

// Of one channel of x, with the filters turned. mac: multiply-adds of taps filled up to fours;
// constant: weights; tap: elements of windows; window, result: as of cpu_work().
LoopWork turned_work(const ImageCall& c, i64 height, i64 width) {
  CpuWork w;
  w.windows = c.y[0] * c.y[1] * c.y[2];
  w.results = w.windows * c.y[3];
  w.macs = w.results * up(height * width, 4);
  w.taps = w.windows * height * width;
  w.constants = c.y[3] * height * width;
  w.lines = c.y[3];
  return {"cortex_m::quantized_depthwise_conv2d/turned", w};
}

std::optional<LoopWork> depthwise_work(const Graph& g, const Node& node, Isa isa) {
  const ImageCall c = image_call(g, node);
  const Shape& w = g.type(node.inputs[1]).shape;
  if (c.x.size() == 4 && c.x[3] == 1 && c.y[3] > 1) return turned_work(c, w[1], w[2]);
  if (c.x.size() != 4 || c.lists.size() < 3 || c.x[3] != c.y[3] || w[1] != 3 || w[2] != 3)
    return std::nullopt;
  const i64 stride = c.lists[0][0];
  const bool is_plain =
      stride == c.lists[0][1] && stride <= 2 && c.lists[2] == std::vector<i64>{1, 1};
  const bool fits = isa == Isa::mve ? c.y[2] >= 2 * stride && c.y[1] >= 3 - stride : c.y[3] >= 4;
  if (!is_plain || !fits || c.x[0] != 1) return std::nullopt;
  const CpuWork work = isa == Isa::mve
                           ? patches_work(c, stride, g.type(node.outputs.back()).bytes())
                           : planes_work(c);
  return LoopWork{call_of(node.op)->name + (stride == 1 ? "/3x3s1" : "/3x3s2"), work};
}

// mac, line, operand: taps, rows of taps and windows of as many channels as go together; tap: taps
// of a mean over too many for the fast loop; window, result: as of cpu_work().
std::optional<LoopWork> pool_work(const Graph& g, const Node& node, Isa isa) {
  constexpr i64 kMostAverageTaps = 181;  // kernels/avg_pool2d/words.h
  const ImageCall c = image_call(g, node);
  if (c.y.size() != 4 || c.lists.empty() || c.y[3] % 4 != 0) return std::nullopt;
  const bool is_mean = call_of(node.op)->name == "cortex_m::quantized_avg_pool2d";
  const bool has_words = isa != Isa::mve;
  const i64 windows = c.y[0] * c.y[1] * c.y[2], taps = c.lists[0][0] * c.lists[0][1];
  CpuWork w;
  w.windows = windows;
  w.results = windows * c.y[3];
  if (is_mean && has_words && taps > kMostAverageTaps) {
    w.taps = windows * taps * (c.y[3] / 4);
  } else {
    w.operands = windows * parts(c.y[3], is_mean ? 8 : kVector);
    w.lines = w.operands * c.lists[0][0];
    w.macs = is_mean || !has_words ? w.operands * taps : windows * taps * (c.y[3] / 4);
  }
  return LoopWork{call_of(node.op)->name + "/whole", w};
}

// Where the last axis stays, mac: bytes, window: runs of them. Else blocks of 4 x 4 are turned
// (mac), in strips (window).
std::optional<LoopWork> permute_work(const Graph& g, const Node& node) {
  const Shape& x = g.type(node.inputs[0]).shape;
  const auto& args = call_of(node.op)->args;
  const auto list = std::ranges::find(args, KernelArg::Kind::integers, &KernelArg::kind);
  if (list == args.end() || list->integers.size() != x.size() || x.empty()) return std::nullopt;
  const std::vector<i64>& perm = list->integers;
  const i64 last = static_cast<i64>(x.size()) - 1, elements = g.type(node.inputs[0]).elements();
  // axes that stay side by side are one
  const auto extent_up_to = [&](size_t at) {
    i64 extent = x[static_cast<size_t>(perm[at])];
    for (; at > 0 && perm[at - 1] + 1 == perm[at]; at--)
      extent *= x[static_cast<size_t>(perm[at - 1])];
    return extent;
  };
  const auto of_last = static_cast<size_t>(std::ranges::find(perm, last) - perm.begin());
  const i64 across = extent_up_to(x.size() - 1), along = extent_up_to(of_last);
  CpuWork w;
  if (perm.back() == last) {
    w.macs = elements;
    w.windows = elements / std::max<i64>(along, 1);
    return LoopWork{call_of(node.op)->name + "/runs", w};
  }
  if (along < 4 || across < 4) return std::nullopt;
  const i64 planes = elements / (along * across);
  w.macs = planes * parts(across, 4) * parts(along, 4);
  w.windows = planes * parts(across, 4) * parts(along, 32);
  w.results = planes;
  return LoopWork{call_of(node.op)->name + "/turned", w};
}

// Sums over all but the last axis. mac: 16 channels of a row; result: results.
std::optional<LoopWork> sum_work(const Graph& g, const Node& node) {
  const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
  if (x.empty() || y.empty() || x.back() != y.back() || x.back() == 0) return std::nullopt;
  CpuWork w;
  w.results = g.type(node.outputs[0]).elements();
  w.windows = w.results / y.back() * parts(y.back(), kVector);
  w.macs = g.type(node.inputs[0]).elements() / x.back() * parts(y.back(), kVector);
  w.operands = g.type(node.inputs[0]).elements();
  return LoopWork{call_of(node.op)->name + "/rows", w};
}

// Products of matrices. mac: multiply-adds, filled up to fours; result: results likewise; window:
// rows; tap: their elements; constant: elements of the other matrix; line: matrices.
std::optional<LoopWork> product_work(const Graph& g, const Node& node) {
  const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
  if (x.size() != 3 || y.size() != 3) return std::nullopt;
  CpuWork w;
  w.windows = y[0] * y[1];
  w.results = w.windows * up(y[2], 4);
  w.macs = w.results * up(x[2], 4);
  w.taps = w.windows * x[2];
  w.constants = y[0] * x[2] * y[2];
  w.lines = y[0];
  return LoopWork{call_of(node.op)->name + "/tiles", w};
}

// mac, tap: blocks of elements, and those behind them. MVE has four floats in a vector.
LoopWork flat_work(const Graph& g, const Node& node, Isa isa) {
  const bool by_sixteen =
      isa == Isa::mve && call_of(node.op)->name != "cortex_m::dequantize_per_tensor";
  const i64 elements = g.type(node.outputs[0]).elements(), block = by_sixteen ? kVector : 4;
  CpuWork w;
  w.macs = elements / block;
  w.taps = elements % block;
  return {call_of(node.op)->name + "/flat", w};
}

}  // namespace

std::optional<LoopWork> loop_work(const Graph& g, const Node& node, Isa isa) {
  const auto& call = *call_of(node.op);
  if (const auto* packed = numbers_of<PackedDense>(&call)) return packed_work(g, node, *packed);
  if (call.name == "cortex_m::quantized_depthwise_conv2d") return depthwise_work(g, node, isa);
  if (call.name == "cortex_m::quantized_avg_pool2d" ||
      call.name == "cortex_m::quantized_max_pool2d")
    return pool_work(g, node, isa);
  if (call.name == "cortex_m::quantize_per_tensor" ||
      call.name == "cortex_m::dequantize_per_tensor" ||
      call.name == "cortex_m::quantized_activation")
    return flat_work(g, node, isa);
  if (call.name == "cortex_m::quantized_batch_matmul") return product_work(g, node);
  if (call.name == "cortex_m::transpose") return permute_work(g, node);
  if (call.name == "deuteron::sum") return sum_work(g, node);
  return std::nullopt;
}

}  // namespace deuteron
