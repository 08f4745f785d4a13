// SPDX-License-Identifier: Apache-2.0
// Packed convolutions. mac: multiply-adds of filled-up tiles, with MVE blocks of them; result:
// results of those; tap: elements that are copied, with MVE vectors; window, line: windows and
// their rows of taps; constant: lines that reach outside; operand: elements of a tensor that is
// added.
#include "compile/cost/loops.h"
#include "kernels/conv2d/packed_add/kernel.h"

namespace deuteron {
namespace {

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
// results of those that are alone, of which 16 more cost about what the window does; line: passes
// of a pair over the filters; tap: blocks behind the second one.
void add_in_place(CpuWork& work, const PackedConv2dArgs& a) {
  const i64 step = i64{a.stride_w} * a.in_c, row = i64{a.stride_h} * a.in_w * a.in_c,
            image = i64{a.in_h} * a.in_w * a.in_c, block = up(a.length(), kVector);
  const bool all = packed_conv2d_is_rows(a);
  const i64 rows = all ? 1 : i64{a.n} * a.out_h,
            windows = all ? i64{a.n} * a.out_h * a.out_w : a.out_w;
  for (i64 k = 0; k < rows; k++) {
    const i64 left = i64{a.n} * image - k / a.out_h * image - k % a.out_h * row - block;
    const Met met = add_run(work, a, windows, left < 0 ? 0 : left / step + 1);
    work.windows += met.alone * (up(a.out_c, 2 * kPackedTile) + 16);
    work.lines += met.paired * (a.out_c % kPackedTile == 0 ? 1 : 2);
    work.taps += met.paired * up(a.out_c, kPackedTile) * std::max<i64>(0, block / kVector - 2);
  }
}

// How many windows from the one at column iw on are of one kind, and whether they lie in x: those
// of one row of taps do, but for the ones that reach outside.
struct WindowsAlike {
  i64 count;
  bool in_place;
};
WindowsAlike windows_alike(const PackedConv2dArgs& a, i64 iw) {
  if (iw < 0) return {(-iw + a.stride_w - 1) / a.stride_w, false};
  const i64 room = a.in_w - a.kernel_w - iw;
  return room < 0 ? WindowsAlike{a.out_w, false} : WindowsAlike{room / a.stride_w + 1, true};
}

// Columns of taps that are copied first, so many windows at a time as `room` holds. tap: vectors of
// the copies, and their rows; window: passes of a pair over the filters; line: runs of windows that
// are copied, and windows that are alone. `lies`: windows may lie in x.
void add_columns(CpuWork& work, const PackedConv2dArgs& a, i32 room, bool lies) {
  const i64 column = i64{a.kernel_h} * a.in_c,
            most = std::max<i64>(1, packed_conv2d_windows_in(a, room));
  const i64 together =
      a.in_c < kVector && lies ? std::min<i64>(kVector / a.in_c, (256 - a.in_c) / column + 1) : 1;
  for (i64 oh = 0; oh < a.out_h; oh++) {
    const i64 ih = oh * a.stride_h - a.pad_h;
    const bool may_lie = lies && a.kernel_h == 1 && ih >= 0 && ih < a.in_h;
    for (i64 ow = 0, windows = 0; ow < a.out_w; ow += windows) {
      const WindowsAlike alike =
          may_lie ? windows_alike(a, ow * a.stride_w - a.pad_w) : WindowsAlike{a.out_w, false};
      windows = std::min(alike.count, a.out_w - ow);
      if (!alike.in_place) windows = std::min(windows, most);
      const Met met = add_run(work, a, windows, windows, a.n);
      work.windows += a.n * met.paired * (a.out_c % kPackedTile == 0 ? 1 : 2);
      work.lines += a.n * (met.alone + !alike.in_place);
      if (alike.in_place) continue;
      const i64 columns = (windows - 1) * a.stride_w + a.kernel_w;
      work.taps += i64{a.n} * a.kernel_h * (parts(columns, together) * parts(a.in_c, kVector) + 1);
    }
  }
}

// Windows of a row whose taps are apart: in turns, each as a row of a convolution without dilation.
void add_apart(CpuWork& work, const PackedConv2dArgs& a, i32 room) {
  const i32 apart = a.dilation_w, turns = std::min(apart, a.out_w);
  for (i32 k = 0; k < turns; k++) {
    PackedConv2dArgs part = a;
    part.dilation_w = 1;
    const i32 begin = k - a.pad_w;
    part.pad_w = begin < 0 ? (apart - 1 - begin) / apart : 0;
    const i32 first = std::min(begin + part.pad_w * apart, a.in_w);
    part.in_w = (a.in_w - first + apart - 1) / apart;
    part.out_w = (a.out_w - k + turns - 1) / turns;
    add_columns(work, part, room, false);
  }
}

// Windows of 3x3 that are met by fours: inside an image of 16 channels where they lie, else as
// columns. line: runs of fours.
void add_fours(CpuWork& work, const PackedConv2dArgs& a, i32 room) {
  const i64 fit = room / (3 * a.in_c) - 2, most = std::min<i64>(fit, a.out_w),
            blocks = a.in_c / kVector;
  i64 fours = 0;
  for (i64 oh = 0; oh < a.out_h; oh++) {
    const i64 ih = oh * a.stride_h - a.pad_h;
    const bool lies = blocks == 1 && ih >= 0 && ih + 2 * a.dilation_h < a.in_h;
    for (i64 ow = 0, count = 0; ow < a.out_w; ow += count) {
      if (a.out_w - ow < 4) ow = a.out_w - 4;
      const i64 iw = ow - a.pad_w, inside = a.in_w - 2 - iw;
      const bool in_place = lies && iw >= 0 && inside >= 4;
      count = std::min(in_place ? inside : lies ? 4 : most, a.out_w - ow) / 4 * 4;
      fours += count / 4;
      work.lines += a.n;
      if (in_place) continue;
      work.windows += i64{a.n} * 3;
      work.taps += i64{a.n} * 3 * (count + 2) * blocks;
    }
  }
  work.results = a.n * fours * up(a.out_c, kPackedTile);
  work.macs = work.results * 9 * blocks;
}

LoopWork mve_work(const PackedDense& n, i64 scratch, CpuWork work) {
  const PackedConv2dArgs& a = n.a;
  if (packed_conv2d_is_in_one_piece(a)) return add_in_place(work, a), LoopWork{"in_place", work};
  const i32 most = packed_conv2d_columns_bytes(a),
            given = n.addition ? most : static_cast<i32>(std::min<i64>(scratch, most)),
            room = std::max(given, std::min(most, kPackedStackColumns)) - kPackedBlock;
  if (packed_conv2d_mve_meets(a, given) == 4)
    return add_fours(work, a, room), LoopWork{"fours", work};
  if (packed_conv2d_is_apart(a)) add_apart(work, a, room);
  else add_columns(work, a, room, true);
  const bool is_held = parts(a.length(), kVector) <= 2;  // in registers
  return {is_held ? "short_columns" : "columns", work};
}

LoopWork core_work(const PackedDense& n, CpuWork work) {
  const PackedConv2dArgs& a = n.a;
  const bool is_dsp = n.packing == Packing::dsp_4x4;
  const i64 windows = i64{a.n} * a.out_h * a.out_w, together = is_dsp ? 2 : 4;
  const i64 met = up(windows, together), filters = is_dsp ? up(a.out_c, kPackedTile) : a.out_c;
  const i64 pieces = i64{a.kernel_h} * (a.dilation_w > 1 ? a.kernel_w : 1),
            piece = a.length() / pieces;
  work.macs = met * filters * up(a.length(), kPackedQuad);
  work.results = met * filters;
  work.taps = met * a.length();
  work.windows = windows;
  work.lines = pieces * windows;
  work.constants = lines_outside(a);
  if (!is_dsp) return {"windows", work};
  // a window at a time, not two side by side
  if (a.dilation_w > 1) work.constants = work.lines, work.lines = 0;
  const bool is_whole = a.in_c % kPackedQuad == 0;
  if (is_whole) return {packed_conv2d_is_rows(a) ? "pixels" : "whole", work};
  work.windows = met * parts(a.length(), kPackedQuad);
  // Those of whole words are met side by side; others are copied first, by words and bytes.
  const bool is_inside = piece % kPackedQuad == 0 && a.dilation_w == 1;
  const i64 copied = packed_conv2d_is_in_one_piece(a) ? 0
                     : is_inside                      ? work.constants / a.kernel_h
                                                      : windows;
  work.taps = copied * pieces * (piece / kPackedQuad + piece % kPackedQuad);
  if (is_inside) return {"words", work};
  if (copied == 0) return {"ragged_pieces", work};
  return {a.kernel_h == 3 && piece == 9 ? "nines" : "ragged", work};
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

}  // namespace

LoopWork packed_windows_work(const PackedDense& n, i64 scratch) {
  return n.packing == Packing::mve_4x16 ? mve_work(n, scratch, {}) : core_work(n, {});
}

std::optional<LoopWork> packed_work(const Graph& g, const Node& node, const PackedDense& n) {
  const PackedConv2dArgs& a = n.a;
  const bool is_behind_relu = n.form == PackedDense::Form::behind_relu;  // held to be without zeros
  if (n.form != PackedDense::Form::plain && n.form != PackedDense::Form::four_bits &&
      !(is_behind_relu && packed_conv2d_is_alone(a)))
    return std::nullopt;
  CpuWork work;
  if (n.addition) work.operands = added(n, g.type(node.outputs.back()).bytes());
  LoopWork found;
  if (packed_conv2d_is_alone(a)) {
    const bool is_mve = n.packing == Packing::mve_4x16;
    const i64 filters = is_mve ? 2 * kPackedTile : kPackedTile;
    // one filter in the place of four reads its weights once
    const bool is_few = a.out_c < kPackedTile && n.packing == Packing::scalar_1x4;
    work.results = is_few ? a.out_c * kPackedTile : up(a.out_c, filters);
    work.macs = work.results * parts(a.length(), is_mve ? kVector : kPackedQuad);
    work.taps = a.length();
    if (a.has_shifts) work.windows = work.results;
    if (is_mve) work.lines = work.results * std::max<i64>(0, parts(a.length(), kVector) - 2);
    found = {is_few ? "few" : "alone", work};
  } else if (a.has_shifts && n.packing != Packing::scalar_1x4) {
    return std::nullopt;
  } else if (n.packing == Packing::mve_4x16 && n.form == PackedDense::Form::four_bits &&
             !packed_conv2d_is_in_one_piece(a)) {
    return std::nullopt;  // weights become bytes again for some windows at a time
  } else if (n.packing == Packing::mve_4x16) {
    found = mve_work(n, g.type(node.outputs.back()).bytes(), work);
  } else {
    found = core_work(n, work);
  }
  return found;
}

}  // namespace deuteron
