// SPDX-License-Identifier: Apache-2.0
// Windows of an image, for each channel: depthwise convolutions and pools.
#include "compile/cost/loops.h"
#include "kernels/conv_transpose2d/packed/kernel.h"
#include "kernels/dense/dot_s8.h"
#include "kernels/depthwise_conv2d/columns_plan.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/depthwise_conv2d/turned.h"
#include "kernels/image/window.h"

namespace deuteron {
namespace {

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
  const i64 channels = c.y[3], blocks = parts(channels, kVector), out_h = c.y[1], out_w = c.y[2];
  const i64 room = (std::max<i64>(scratch, kStackStrip) - kMorePatches) / kColumnBytes,
            group = stride == 1 ? 2 : 4, height = stride == 1 ? 2 : 1;
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
  return {"turned", w};
}

// The taps of all windows along one axis that lie inside.
i64 taps_inside_of(i64 places, i64 stride, i64 pad, i64 taps, i64 dilation, i64 extent) {
  i64 n = 0;
  for (i64 k = 0; k < places; k++)
    for (i64 t = 0; t < taps; t++) {
      const i64 at = k * stride - pad + t * dilation;
      n += at >= 0 && at < extent;
    }
  return n;
}

struct TapsInside {
  i64 rows, taps;  // of all windows
};
TapsInside taps_inside_of(const DepthwiseConv2dArgs& a) {
  const i64 h = taps_inside_of(a.out_h, a.stride_h, a.pad_h, a.kernel_h, a.dilation_h, a.in_h),
            w = taps_inside_of(a.out_w, a.stride_w, a.pad_w, a.kernel_w, a.dilation_w, a.in_w);
  return {a.n * h * a.out_w, a.n * h * w};
}

// With the DSP extension a tap after the other, of four channels. mac: such taps; line: their rows;
// result: fours of channels.
LoopWork by_taps(const DepthwiseConv2dArgs& a) {
  const TapsInside inside = taps_inside_of(a);
  const i64 fours = parts(a.out_c, 4);
  CpuWork w;
  w.windows = i64{a.n} * a.out_h * a.out_w;
  w.results = w.windows * fours;
  w.macs = inside.taps * fours;
  w.lines = inside.rows * fours;
  return {a.depth_multiplier == 1 ? "taps" : "taps_of_others", w};
}

// In portable C, with the sums of some channels in memory. mac, tap: channels of three taps at a
// time, and of one; line: such passes.
LoopWork by_sums(const DepthwiseConv2dArgs& a) {
  const bool is_own = a.depth_multiplier == 1;
  const i64 runs = is_own ? 1 : a.in_c, blocks = runs * parts(a.out_c / runs, kSums);
  CpuWork w;
  w.windows = i64{a.n} * a.out_h * a.out_w;
  w.results = w.windows * a.out_c;
  w.operands = w.windows * blocks;
  const TapsInside inside = taps_inside_of(a);
  if (!is_own) {
    w.taps = inside.taps * a.out_c, w.lines = inside.taps * blocks;
    return {"sums_of_others", w};
  }
  i64 threes = 0;
  for (i64 k = 0; k < a.out_w; k++)
    threes += taps_inside_of(1, 1, a.pad_w - k * a.stride_w, a.kernel_w, a.dilation_w, a.in_w) / 3;
  const i64 rows = inside.rows / std::max(a.out_w, 1);
  w.macs = rows * threes * a.out_c;
  w.taps = inside.taps * a.out_c - 3 * w.macs;
  w.lines = (inside.taps - 2 * rows * threes) * blocks;
  return {"sums", w};
}

// The same of several rows. mac: pairs of taps of four outputs; line: rows of the result; tap,
// window: pixels and rows of x; constant: taps.
LoopWork by_window_planes(const DepthwiseConv2dArgs& a) {
  constexpr i64 kPlaneRows = 10, kPlaneRow = 32;  // kernels/depthwise_conv2d/planes*.h
  const i64 planes = i64{a.n} * parts(a.out_c, 4), pairs = window_pairs(a),
            most = (kPlaneRow - 2 * pairs - 2) / 4 * 4 + 4, times = parts(a.out_w, most),
            at_once = (kPlaneRows - a.kernel_h) / a.stride_h + 1, fills = parts(a.out_h, at_once);
  const i64 rows = fills * a.kernel_h + (a.out_h - fills) * a.stride_h;
  CpuWork w;
  w.lines = planes * times * a.out_h;
  w.results = planes * a.out_h * (a.out_w / most * (most / 4) + parts(a.out_w % most, 4));
  w.macs = w.results * a.kernel_h * pairs;
  w.windows = planes * times * rows;
  w.taps = planes * rows * (a.out_w + times * (a.kernel_w - 1));
  w.constants = planes * times * a.kernel_h * a.kernel_w;
  return {"windows", w};
}

// Windows of one row by planes of four channels. mac: pairs of taps of an output; tap: elements
// that are widened; line: rows; constant: planes.
LoopWork by_row_planes(const DepthwiseConv2dArgs& a) {
  const i64 planes = parts(a.out_c, 4), rows = i64{a.n} * a.out_h * planes,
            times = parts(a.out_w, 64);
  CpuWork w;
  w.results = 4 * rows * a.out_w;
  w.macs = w.results * (a.kernel_w > 1 ? a.kernel_w / 2 + 1 : 2);
  w.taps = rows * std::min(a.in_w, a.out_w + a.kernel_w - 1);
  w.lines = rows * times;
  w.constants = a.n * planes * a.kernel_w;
  w.windows = a.n * planes;
  return {"row", w};
}

// The same with MVE by patches of strips, 16 channels at a time. mac: patches; tap: columns.
LoopWork by_row_patches(const DepthwiseConv2dArgs& a, i64 scratch) {
  const i64 bytes = scratch <= kStackStrip + 3 ? kStackStrip : scratch,
            most = ((bytes - kMorePatches) / kColumnBytes - 12) / 2 * 4,
            width = a.out_w < most + 4 ? a.out_w : most, s = a.stride_w,
            words = (a.kernel_w + 3 * s + 3) / 4, reach = s == 1 ? 2 * words - 1 : words,
            columns = (width % 4 > 0 ? reach : 0) + reach + 2 * (width / 4 - 1);
  const i64 blocks = parts(a.out_c, kVector), rows = i64{a.n} * a.out_h * parts(a.out_w, width);
  CpuWork w;
  w.macs = rows * parts(width, 4) * a.out_c * (s == 1 ? 1 : 2);
  w.taps = rows * blocks * columns;
  w.results = rows * width * a.out_c;
  w.windows = rows * a.out_c;
  w.lines = rows * blocks;
  w.constants = a.n * blocks * a.kernel_w;
  return {s == 1 ? "row" : "row2", w};
}

// With MVE by columns of taps (kernels/depthwise_conv2d/columns_mve.h), 8 channels at a time. mac:
// vectors of fours of windows; tap: pixels that become columns; line: channels of rows of windows;
// operand: rows of columns that are copied; constant: taps.
LoopWork by_columns(const DepthwiseConv2dArgs& a, const ColumnsPlan& plan) {
  const i64 times = a.n * parts(a.out_w, plan.windows) * parts(a.out_h, plan.rows) *
                    parts(a.out_c, kColumnChannels),
            columns = i64{plan.windows - 1} * a.stride_w + a.kernel_w,
            pairs = plan.height % 2 == 0 ? plan.height / 2 : plan.height;
  CpuWork w;
  w.lines = a.n * parts(a.out_w, plan.windows) * parts(a.out_h, plan.rows) * plan.rows * a.out_c;
  w.results = w.lines * parts(plan.windows, 4);
  w.macs = w.results * plan.vectors;
  w.operands = times * pairs;
  w.taps = w.operands * columns;
  w.constants = i64{a.n} * parts(a.out_c, kColumnChannels) * plan.taps;
  const bool as_they_lie = a.depth_multiplier == 1 && plan.height % 2 == 0;
  return {as_they_lie ? "columns" : "columns_of_others", w};
}

// A tap after the other with MVE, 8 channels at a time. mac: such taps; line: their rows.
LoopWork by_vector_taps(const DepthwiseConv2dArgs& a) {
  LoopWork found = by_taps(a);
  const i64 blocks = parts(a.out_c, 8), fours = parts(a.out_c, 4);
  found.work.macs = found.work.macs / fours * blocks;
  found.work.lines = found.work.lines / fours * blocks;
  found.work.results = found.work.windows * blocks;
  found.work.constants = blocks;
  return found;
}

LoopWork mve_depthwise_work(const ImageCall& c, const DepthwiseConv2dArgs& a, i64 scratch) {
  if (has_patches(a))
    return {a.stride_w == 1 ? "3x3s1" : "3x3s2", patches_work(c, a.stride_w, scratch)};
  const auto bytes = static_cast<i32>(scratch);
  const bool alone = is_alone(a, bytes);
  if (!alone && has_row_patches(a)) return by_row_patches(a, scratch);
  const ColumnsPlan plan(a, bytes <= kStackStrip + 3 ? kStackStrip : bytes);
  const i32 others = alone ? one_channel_instructions(a) : taps_instructions(a);
  if (plan.serves(a) && plan.instructions(a) < others) return by_columns(a, plan);
  if (alone) return turned_work(c, a.kernel_h, a.kernel_w);
  return by_vector_taps(a);
}

// Results that take longer to become bytes with the DSP extension, as fill_finish() of
// kernels/depthwise_conv2d/kernel_dsp.cpp tells their channels; those of any bounds and shifts
// count seven times.
i64 slow_results(const DenseNumbers* n, i64 windows) {
  if (!n) return 0;
  const bool is_whole = has_int8_bounds(*n), is_relu = n->a.y_zero == -128;
  i64 slow = 0;
  for (const Multiplier& m : n->multipliers) {
    const bool is_plain = m.shift == 0 && m.value < 1 << 30,
               is_up = is_relu && m.shift <= -3 && m.shift >= -9;
    if (is_whole && (is_plain || is_up)) continue;
    slow += is_whole && (m.shift < 0 || (is_relu && m.shift == 0)) ? 1 : 7;
  }
  return slow * windows;
}

LoopWork core_depthwise_work(const ImageCall& c, const DepthwiseConv2dArgs& a, bool is_dsp) {
  if (turned_fit(a, is_dsp ? kDspTurned : kScalarTurned))
    return a.kernel_h * a.kernel_w < 4 && is_dsp
               ? LoopWork{"turned_short", turned_work(c, a.kernel_h, a.kernel_w).work}
               : turned_work(c, a.kernel_h, a.kernel_w);
  if (has_planes(a)) return {a.stride_w == 1 ? "3x3s1" : "3x3s2", planes_work(c)};
  if (!is_dsp || a.out_c < 4) return by_sums(a);
  return has_row_planes(a)      ? by_row_planes(a)
         : has_window_planes(a) ? by_window_planes(a)
                                : by_taps(a);
}

DepthwiseConv2dArgs depthwise_args(const ImageCall& c, const Shape& weight) {
  const auto i = [](i64 n) { return static_cast<i32>(n); };
  DepthwiseConv2dArgs a{};
  a.n = i(c.x[0]), a.in_h = i(c.x[1]), a.in_w = i(c.x[2]), a.in_c = i(c.x[3]);
  a.out_h = i(c.y[1]), a.out_w = i(c.y[2]), a.out_c = i(c.y[3]);
  a.kernel_h = i(weight[1]), a.kernel_w = i(weight[2]);
  a.depth_multiplier = a.in_c > 0 ? a.out_c / a.in_c : 0;
  a.stride_h = i(c.lists[0][0]), a.stride_w = i(c.lists[0][1]);
  a.pad_h = i(c.lists[1][0]), a.pad_w = i(c.lists[1][1]);
  a.dilation_h = i(c.lists[2][0]), a.dilation_w = i(c.lists[2][1]);
  if (a.in_w != 1 || a.out_w != 1 || a.kernel_w != 1 || a.pad_w != 0) return a;
  // an image of one column lies along a row: kernels/depthwise_conv2d/bind.cpp
  std::swap(a.in_h, a.in_w), std::swap(a.out_h, a.out_w), std::swap(a.kernel_h, a.kernel_w);
  std::swap(a.stride_h, a.stride_w), std::swap(a.pad_h, a.pad_w);
  std::swap(a.dilation_h, a.dilation_w);
  return a;
}

}  // namespace

// The taps of all outputs along one axis of a transposed convolution that reach them from inside x.
static i64 taps_reaching(i64 places, i64 stride, i64 pad, i64 taps, i64 extent) {
  i64 n = 0;
  for (i64 at = pad; at < places + pad; at++)
    for (i64 t = at % stride; t < taps && t <= at; t += stride) n += (at - t) / stride < extent;
  return n;
}

// mac: multiply-adds of the taps that reach an output; tap: elements that are widened; line: passes
// over some filters.
std::optional<LoopWork> transposed_work(const Graph& g, const Node& node) {
  const ImageCall c = image_call(g, node);
  const Shape& weight = g.type(node.inputs[1]).shape;
  if (c.x.size() != 4 || c.y.size() != 4 || weight.size() != 4 || c.lists.size() < 2)
    return std::nullopt;
  const i64 reaching = c.y[0] *
                       taps_reaching(c.y[1], c.lists[0][0], c.lists[1][0], weight[1], c.x[1]) *
                       taps_reaching(c.y[2], c.lists[0][1], c.lists[1][1], weight[2], c.x[2]);
  CpuWork w;
  w.windows = c.y[0] * c.y[1] * c.y[2];
  w.results = w.windows * c.y[3];
  w.lines = reaching * parts(c.y[3], kSums);
  w.taps = w.lines * c.x[3];
  w.macs = reaching * c.x[3] * c.y[3];
  return LoopWork{"taps", w};
}

// The sum of its phases, each a convolution. operand: phases. in_place: each of a single tap.
std::optional<LoopWork> packed_transposed_work(const Graph& g, const Node& node) {
  const ImageCall c = image_call(g, node);
  if (c.x.size() != 4 || c.y.size() != 4 || c.lists.size() < 3) return std::nullopt;
  const auto i = [](i64 n) { return static_cast<i32>(n); };
  PackedConvTranspose2dArgs a{};
  a.n = i(c.x[0]), a.in_h = i(c.x[1]), a.in_w = i(c.x[2]), a.in_c = i(c.x[3]);
  a.out_h = i(c.y[1]), a.out_w = i(c.y[2]), a.out_c = i(c.y[3]);
  a.kernel_h = i(c.lists[0][0]), a.kernel_w = i(c.lists[0][1]);
  a.stride_h = i(c.lists[1][0]), a.stride_w = i(c.lists[1][1]);
  a.pad_h = i(c.lists[2][0]), a.pad_w = i(c.lists[2][1]);
  PackedDense phase;
  phase.packing = call_of(node.op)->overload == "mve_4x16" ? Packing::mve_4x16 : Packing::dsp_4x4;
  LoopWork all{a.in_c % kPackedQuad == 0 ? "phases" : "ragged_phases", {}};
  if (phase.packing == Packing::mve_4x16 && all.kernel == "phases" && a.kernel_h <= a.stride_h &&
      a.kernel_w <= a.stride_w)
    all.kernel = "phases_in_place";
  for_each_phase(a, phase.packing, [&](const PackedConv2dArgs& p, i64, i32) {
    phase.a = p;
    const CpuWork w = packed_windows_work(phase, scratch_of(g, node)).work;
    all.work.macs += a.n * w.macs, all.work.results += a.n * w.results;
    all.work.taps += a.n * w.taps, all.work.constants += a.n * w.constants;
    all.work.windows += a.n * w.windows, all.work.lines += a.n * w.lines;
    all.work.operands += a.n;
  });
  return all;
}

std::optional<LoopWork> depthwise_work(const Graph& g, const Node& node, Isa isa) {
  const ImageCall c = image_call(g, node);
  const Shape& weight = g.type(node.inputs[1]).shape;
  if (c.x.size() != 4 || c.y.size() != 4 || weight.size() != 4 || c.lists.size() < 3)
    return std::nullopt;
  const DepthwiseConv2dArgs a = depthwise_args(c, weight);
  const auto* numbers = numbers_of<DenseNumbers>(call_of(node.op));
  const bool has_bounds = numbers && !has_int8_bounds(*numbers);
  LoopWork found = isa == Isa::mve ? mve_depthwise_work(c, a, scratch_of(g, node))
                                   : core_depthwise_work(c, a, isa == Isa::dsp);
  const bool is_3x3 = found.kernel.starts_with("3x3");
  if (isa == Isa::dsp && (found.kernel == "row" || found.kernel == "windows" || is_3x3))
    found.work.operands = slow_results(numbers, i64{a.n} * a.out_h * a.out_w);
  if (isa == Isa::scalar && is_3x3) found.work.operands = has_bounds ? found.work.results : 0;
  if (isa == Isa::mve && (is_3x3 || found.kernel.starts_with("row")))
    found.work.operands = has_bounds ? found.work.macs : 0;
  if (isa == Isa::mve && found.kernel.starts_with("columns"))
    found.work.windows = has_bounds ? found.work.results : 0;
  return found;
}

namespace {

constexpr i64 kMostAverageTaps = 181, kAverageChannels = 8;  // kernels/avg_pool2d/words.h

// The taps of all windows of a pool that lie inside, and their rows.
TapsInside taps_of_pool(const ImageCall& c) {
  const auto along = [&](size_t k) {
    return taps_inside_of(c.y[1 + k], c.lists[1][k], c.lists[2][k], c.lists[0][k], 1, c.x[1 + k]);
  };
  const i64 h = along(0);
  return {c.y[0] * h * c.y[2], c.y[0] * h * along(1)};
}

// mac: taps of 8 channels; line: their rows; operand: eights of channels. bytes: a channel after
// the other; fours: of pixels with few channels, or of many taps.
LoopWork average_work(const ImageCall& c, Isa isa) {
  const TapsInside inside = taps_of_pool(c);
  const i64 channels = c.y[3], taps = c.lists[0][0] * c.lists[0][1];
  CpuWork w;
  w.windows = c.y[0] * c.y[1] * c.y[2];
  w.results = w.windows * channels;
  const bool in_words = taps <= kMostAverageTaps && channels >= kAverageChannels;
  if (isa != Isa::mve && (channels < 4 || (isa == Isa::scalar && !in_words))) {
    w.macs = inside.taps * channels;
    w.lines = inside.taps * parts(channels, 64);
    w.operands = w.windows * parts(channels, 64);
    return {"bytes", w};
  }
  const bool by_eight = isa == Isa::mve || in_words;
  const i64 groups = parts(channels, by_eight ? kAverageChannels : 4);
  w.operands = w.windows * groups;
  w.macs = inside.taps * groups;
  w.lines = inside.rows * groups;
  return {by_eight ? "eights" : "fours", w};
}

// Runs of windows with the same taps inside, which meet them in fours. mac: fours of taps of 16
// channels; line: those of a run; operand: 16 channels of a run; window: runs.
LoopWork maxima_work(const ImageCall& c) {
  const i64 blocks = parts(c.y[3], kVector);
  const auto inside = [&](size_t k, i64 at) {
    const auto of = [&](size_t list) { return static_cast<i32>(c.lists[list][k]); };
    const Taps taps = taps_inside(static_cast<i32>(at * of(1) - of(2)), of(0), of(3),
                                  static_cast<i32>(c.x[1 + k]));
    return i64{taps.end - taps.first};
  };
  CpuWork w;
  for (i64 oh = 0; oh < c.y[1]; oh++) {
    const i64 rows = inside(0, oh);
    for (i64 ow = 0, taps = -1, row = 0; ow < c.y[2]; ow++) {
      row = inside(1, ow);
      const i64 fours = std::max<i64>(1, parts(rows * row, 4)) * blocks;
      w.macs += fours;
      if (row == taps && row == c.lists[0][1]) continue;
      taps = row;
      w.lines += fours;
      w.operands += blocks;
      w.windows++;
    }
  }
  w.macs *= c.y[0], w.lines *= c.y[0], w.operands *= c.y[0], w.windows *= c.y[0];
  w.results = c.y[0] * c.y[1] * c.y[2] * c.y[3];
  return {"runs", w};
}

// mac: taps of 16 channels; tap: of words of four, or of single channels; line: their rows;
// operand: such groups of channels.
LoopWork maximum_work(const ImageCall& c, Isa isa) {
  if (isa == Isa::mve) return maxima_work(c);
  const TapsInside inside = taps_of_pool(c);
  const i64 channels = c.y[3];
  CpuWork w;
  w.windows = c.y[0] * c.y[1] * c.y[2];
  w.results = w.windows * channels;
  const i64 sixteens = channels / kVector, words = parts(channels % kVector, 4);
  if (channels < 4) {
    w.macs = inside.taps * channels;
    w.lines = inside.rows * channels;
    return {"bytes", w};
  }
  w.operands = w.windows * (sixteens + words);
  w.macs = inside.taps * sixteens;
  w.taps = inside.taps * words;
  w.lines = inside.rows * (sixteens + words);
  return {"words", w};
}

}  // namespace

std::optional<LoopWork> pool_work(const Graph& g, const Node& node, Isa isa) {
  const ImageCall c = image_call(g, node);
  const bool is_average = call_of(node.op)->name == "cortex_m::quantized_avg_pool2d";
  if (c.x.size() != 4 || c.y.size() != 4 || c.lists.size() < (is_average ? 3 : 4))
    return std::nullopt;
  return is_average ? average_work(c, isa) : maximum_work(c, isa);
}

}  // namespace deuteron
