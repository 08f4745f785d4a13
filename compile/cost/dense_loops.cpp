// SPDX-License-Identifier: Apache-2.0
// Layers whose weights lie as they are in the file, and products of activations. mac: multiply-adds
// of filled-up tiles, with MVE blocks of them; result: results of those; tap: elements that are
// gathered or widened, with MVE vectors; window, line: windows and their rows of taps, or rows and
// matrices of a product, or groups; constant: elements, or vectors, of weights that are read once
// more.
#include "compile/cost/loops.h"
#include "kernels/linear/kernel.h"
#include "kernels/matmul/by_linear.h"
#include "kernels/matmul/tile_dsp.h"
#include "kernels/matmul/tile_mve.h"

namespace deuteron {
namespace {

constexpr i64 kQuad = 4;           // elements that meet filters in a word
constexpr i64 kMveTile = 4;        // filters
constexpr i64 kLongestPair = 256;  // elements of a row of which two meet filters together with MVE

// Filters one after the other, each with all windows in a row.
LoopWork by_single_filters(i64 windows, i64 filters, i64 length, i64 pieces) {
  CpuWork w;
  w.windows = windows;
  w.results = windows * filters;
  w.macs = w.results * length;
  w.lines = windows * pieces;
  return {"single", w};
}

// The taps along one axis before x, inside and behind it.
struct TapsAlong {
  i64 before = 0, inside = 0, behind = 0;
};
TapsAlong taps_along(i64 first, i64 taps, i64 dilation, i64 extent) {
  TapsAlong n;
  for (i64 t = 0; t < taps; t++)
    ++(first + t * dilation < 0 ? n.before : first + t * dilation < extent ? n.inside : n.behind);
  return n;
}

// Pairs of windows that are single pieces, of which one is in another row, are copied apart.
i64 windows_apart(const PackedConv2dArgs& a) {
  i64 apart = 0;
  for (i64 at = 0, windows = i64{a.out_h} * a.out_w; at < windows; at += 2)
    apart += at + 1 == windows ? 1 : at / a.out_w == (at + 1) / a.out_w ? 0 : 2;
  return a.n * apart;
}

// Windows with MVE that are no single piece are gathered two by two: inside x whole rows of taps,
// where those are whole blocks or one part of a block; else a call for each piece and for each run
// of what lies outside. Adds `times` of them: line: rows; operand, tap: calls, and their vectors.
void add_gathering(CpuWork& w, const PackedConv2dArgs& a, i64 channels, i64 times) {
  const i64 row = a.kernel_w * channels, windows = i64{a.out_h} * a.out_w;
  const bool in_rows = a.dilation_w == 1 && channels == a.in_c,
             has_rows = (a.kernel_w == 1 || in_rows) && (row % kVector == 0 || row <= kVector);
  CpuWork one;
  const auto add_run = [&](i64 taps, i64 count) {
    if (taps > 0) one.operands += count, one.taps += count * parts(taps * channels, kVector);
  };
  const auto add_window = [&](i64 at) {
    const TapsAlong h = taps_along(at / a.out_w * a.stride_h - a.pad_h, a.kernel_h, a.dilation_h,
                                   a.in_h),
                    v = taps_along(at % a.out_w * a.stride_w - a.pad_w, a.kernel_w, a.dilation_w,
                                   a.in_w);
    add_run(h.before * a.kernel_w, 1), add_run(h.behind * a.kernel_w, 1);
    add_run(v.before, h.inside), add_run(v.behind, h.inside);
    add_run(in_rows ? v.inside : 1, h.inside * (in_rows ? 1 : v.inside));
    return h.inside == a.kernel_h && v.inside == a.kernel_w;
  };
  for (i64 at = 0; at < windows; at += 2) {
    one = {};
    const bool first = add_window(at), second = add_window(std::min(at + 1, windows - 1)),
               is_row = at / a.out_w == (at + 1) / a.out_w;
    if (has_rows && first && second && is_row) one = {}, one.lines = 2 * a.kernel_h;
    w.lines += a.n * times * one.lines, w.operands += a.n * times * one.operands;
    w.taps += a.n * times * one.taps;
  }
}

// With MVE all lanes of a tile are one filter, which meets all windows two by two. constant: blocks
// of weights; operand: what is gathered behind whole blocks; line: windows that are copied apart.
LoopWork by_single_lanes(const PackedConv2dArgs& a, i64 channels, i64 length, bool in_one_piece) {
  const i64 windows = i64{a.n} * a.out_h * a.out_w, filters = a.out_c;
  CpuWork w;
  w.windows = filters;
  w.results = filters * up(windows, 2);
  w.macs = w.results * parts(length, kVector);
  w.constants = filters * kMveTile * parts(length, kVector);
  if (in_one_piece)
    w.operands = length % kVector != 0 ? w.results : 0, w.lines = filters * windows_apart(a);
  else add_gathering(w, a, channels, filters);
  return {in_one_piece ? "lanes" : "lanes_gathered", w};
}

// With MVE two windows are gathered and meet four filters.
LoopWork by_gathered_pairs(const PackedConv2dArgs& a, i64 channels, i64 length, bool in_one_piece) {
  const i64 windows = i64{a.n} * a.out_h * a.out_w, filters = a.out_c;
  CpuWork w;
  w.windows = up(windows, 2) * parts(filters, 64) * (filters % kMveTile == 0 ? 1 : 2);
  w.results = up(windows, 2) * up(filters, kMveTile);
  w.macs = w.results * parts(length, kVector);
  w.constants = up(filters, kMveTile) * parts(length, kVector);
  if (in_one_piece)
    w.taps = up(windows, 2) * parts(length, kVector),
    w.operands = parts(filters, 64) * windows_apart(a);
  else add_gathering(w, a, channels, parts(filters, 64));
  return {in_one_piece ? "gathered" : "rows_gathered", w};
}

// One window, or one row after the other, that meets all filters in tiles.
LoopWork by_rows(i64 rows, i64 filters, i64 length, Isa isa) {
  CpuWork w;
  w.windows = rows;
  w.results = rows * up(filters, isa == Isa::dsp ? 2 : kMveTile);
  w.macs = w.results * (isa == Isa::mve ? parts(length, kVector) : up(length, kQuad));
  w.taps = rows * length;
  return {"row", w};
}

LoopWork by_pairs(i64 rows, i64 filters, i64 length) {
  CpuWork w;
  w.windows = up(rows, 2);
  w.results = w.windows * up(filters, kMveTile);
  w.macs = w.results * parts(length, kVector);
  w.taps = w.windows * parts(length, kVector) * parts(filters, 64);
  w.constants = up(filters, kMveTile) * parts(length, kVector);
  return {"pairs", w};
}

// `together` windows that are widened side by side.
LoopWork by_windows(i64 windows, i64 together, i64 filters, i64 length, i64 pieces) {
  CpuWork w;
  w.windows = windows;
  w.results = up(windows, together) * filters;
  w.macs = w.results * up(length, kQuad);
  w.taps = up(windows, together) * length;
  w.lines = windows * pieces;
  return {together == 2 ? "twos" : "fours", w};
}

// Without DSP elements are met by themselves, in turns of eight. constant: turns.
LoopWork by_turns(LoopWork found, i64 length) {
  found.work.macs = found.work.results * length;
  found.work.constants = found.work.results * parts(length, 8);
  return found;
}

// Rows of taps that are no single piece: of whole words, or copied by words and bytes (tap).
LoopWork by_copied_fours(CpuWork w, const DenseNumbers& n, i64 rows, i64 row) {
  if (n.filter_c % kQuad == 0) return {"fours_of_words", w};
  w.taps = rows * (row / kQuad + row % kQuad);
  return {"fours_of_bytes", w};
}

// As finish_of() of kernels/conv2d/kernel_dsp.cpp; others take longer for a result (operand).
bool has_plain_sums(const DenseNumbers& n) {
  return has_int8_bounds(n) && std::ranges::all_of(n.multipliers, [](const Multiplier& m) {
           return m.shift == 0 && m.value >= 0 && m.value < 1 << 30;
         });
}

}  // namespace

std::optional<LoopWork> plain_work(const Graph& g, const Node& node, const DenseNumbers& n,
                                   Isa isa) {
  PackedConv2dArgs a = n.a;  // of a group
  const std::string& name = call_of(node.op)->name;
  const bool is_row_of_layer = name.find("linear") != std::string::npos;
  if (n.is_transposed || n.filter_c == 0) return std::nullopt;
  const i64 groups = a.in_c / n.filter_c;
  a.out_c = static_cast<i32>(a.out_c / std::max<i64>(groups, 1));
  const i64 length = i64{a.kernel_h} * a.kernel_w * n.filter_c, filters = a.out_c,
            windows = i64{a.n} * a.out_h * a.out_w;
  const bool in_one_piece = is_row_of_layer || packed_conv2d_is_in_one_piece(a);
  const i64 pieces = in_one_piece ? 1 : i64{a.kernel_h};
  const bool is_one = windows == 1 && in_one_piece;
  LoopWork found;
  if (isa == Isa::mve) {
    if (is_row_of_layer && filters < kMveTile) {
      found = by_rows(windows, filters * kMveTile, length, isa);
      found.kernel = "lanes";
    } else if (filters < kMveTile) {
      found = by_single_lanes(a, n.filter_c, length, in_one_piece);
    } else if (is_row_of_layer && windows >= 6 && length <= kLongestPair) {
      found = by_pairs(windows, filters, length);
    } else if (is_row_of_layer || is_one) {
      found = by_rows(windows, filters, length, isa);
    } else {
      found = by_gathered_pairs(a, n.filter_c, length, in_one_piece);
    }
  } else if (isa == Isa::scalar) {
    if (filters < 2) found = by_single_filters(windows, filters, length, pieces);
    else if (is_one && filters >= 4) found = by_rows(windows, filters, length, isa);
    else found = by_turns(by_windows(windows, 4, filters, length, pieces), length);
    if (!has_int8_bounds(n)) found.work.operands = found.work.results;
  } else if (filters < 2 || length < kQuad) {
    found = by_single_filters(windows, filters, length, pieces);
  } else if (is_row_of_layer && filters > 2 && length % 8 == 0 && length <= kDspRow &&
             (windows == 1 || filters > 64) && !n.bias.empty()) {
    found = by_rows(windows, filters, length, isa);  // three rows of weights at a time
    found.kernel = "threes";
  } else {
    const i64 window = 2 * up(length, kQuad), room = std::max<i64>(scratch_of(g, node), 4096);
    if (2 * window > room) {
      found = by_single_filters(windows, up(filters, 4), length, pieces);
      found.kernel = "long";
    } else if (is_one && length % 8 == 0) {
      found = by_rows(windows, filters, length, isa);
    } else {
      found = by_windows(windows, 4 * window <= room ? 4 : 2, filters, length, pieces);
      if (found.kernel == "fours" && !in_one_piece)
        found = by_copied_fours(found.work, n, windows * pieces, length / pieces);
      if (!has_plain_sums(n)) found.work.operands = found.work.results;
    }
  }
  CpuWork& w = found.work;
  for (int64_t* count :
       {&w.macs, &w.results, &w.operands, &w.constants, &w.taps, &w.windows, &w.lines})
    *count *= groups;
  if (found.kernel == "gathered") w.lines = groups;
  return found;
}

namespace {

LoopWork dsp_product_work(const MatmulArgs& a) {
  if (!meets_dsp_tiles(a)) {
    const bool together = a.rows > 1 && a.columns > 1 && a.inner >= 4 && a.inner <= 512;
    LoopWork found = together ? by_windows(i64{a.batch} * up(a.rows, 4), 4, a.columns, a.inner, 1)
                              : by_rows(i64{a.batch} * a.rows, a.columns, a.inner, Isa::dsp);
    if (a.columns == 1) found.kernel = "column";
    found.work.lines = a.batch;
    return found;
  }
  constexpr i64 kRoom = 2304;  // kernels/matmul/kernel_dsp.cpp
  const i64 inner = up(a.inner, kQuad), rows = up(a.rows, 4), columns = up(a.columns, 2),
            times = parts(rows, (kRoom / inner - 2) / 4 * 4);
  CpuWork w;
  w.results = a.batch * rows * columns;
  w.macs = w.results * inner;
  w.taps = a.batch * rows * inner;
  w.constants = a.batch * times * columns * inner;
  w.windows = a.batch * times * columns / 2;
  w.lines = a.batch * times;
  if (a.inner % kQuad != 0)  // ends that are filled up by themselves
    w.operands = a.batch * (rows / 4 + times * columns / 2);
  return {"tiles", w};
}

LoopWork mve_product_work(const MatmulArgs& a) {
  const i64 vectors = parts(a.inner, kVector);
  if (!meets_mve_tiles(a)) {
    LoopWork found = a.columns < kMveTile
                         ? by_rows(i64{a.batch} * a.rows, a.columns * kMveTile, a.inner, Isa::mve)
                     : a.rows < 6 || a.inner > kLongestPair
                         ? by_rows(i64{a.batch} * a.rows, a.columns, a.inner, Isa::mve)
                         : by_pairs(a.rows, a.columns, a.inner);
    if (found.kernel == "pairs")
      for (int64_t* n : {&found.work.windows, &found.work.results, &found.work.macs,
                         &found.work.taps, &found.work.constants})
        *n *= a.batch;
    found.work.lines = a.batch;
    return found;
  }
  constexpr i64 kRoom = 2444;  // kernels/matmul/kernel_mve.cpp
  const i64 padded = a.inner > kMveShort ? kMveLong : kMveShort,
            fit = (kRoom - kMveRecordTail) / (2 * padded + kMveRecordTail) * 2;
  const i64 pairs = parts(a.rows, 2), columns = parts(a.columns, kMveColumns),
            times = parts(a.rows, fit);
  CpuWork w;
  w.results = a.batch * pairs * columns;
  w.taps = a.batch * pairs * vectors;
  w.windows = a.batch * times * columns;
  w.constants = w.windows * vectors;
  w.lines = a.batch * times;
  w.operands = a.batch * pairs;
  return {padded == kMveLong ? "long" : "short", w};
}

// Weights that have an offset let each row be an image of its own.
LoopWork scalar_product_work(const MatmulArgs& a) {
  if (a.rows == 1 && a.other_offset == 0) {
    LoopWork found = by_rows(a.batch, a.columns, a.inner, Isa::scalar);
    found.work.lines = 0;
    return found;
  }
  const bool together = a.other_offset == 0 && a.columns <= 64;
  LoopWork found = by_windows(i64{a.batch} * (together ? up(a.rows, 4) : a.rows), together ? 4 : 1,
                              a.columns, a.inner, 1);
  found = by_turns(found, a.inner);
  found.work.lines = a.batch;
  found.work.operands = a.columns % 2 * found.work.windows;  // a column that meets rows alone
  found.kernel = together ? "fours" : "offset";
  return found;
}

}  // namespace

LoopWork product_work(const MatmulArgs& a, Isa isa) {
  return isa == Isa::mve   ? mve_product_work(a)
         : isa == Isa::dsp ? dsp_product_work(a)
                           : scalar_product_work(a);
}

}  // namespace deuteron
