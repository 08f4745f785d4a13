// SPDX-License-Identifier: Apache-2.0
// Operators that pick, join or pad whole elements: slice, split, concat, gather, pad.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/onnx/call/fold.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {

static void import_concat(Call& c) {
  c.need_attribute("axis");
  const std::vector<Operand> parts = c.all_operands();
  c.require(!c.ok() || !parts.empty(), "joins nothing", "0", "1", "onnx.operand.missing");
  if (!c.ok()) return;
  const i64 axis = c.axis(c.integer("axis", 0), c.rank(parts[0]));
  c.result(parts.size() == 1 ? parts[0] : joined(c, parts, axis, ""));
}

// Forward it is torch's; backward the elements are picked by their positions.
static void import_slice(Call& c) {
  Operand y = c.operand(0);
  const std::vector<i64> starts = c.integers_of(1, "starts"), ends = c.integers_of(2, "ends");
  std::vector<i64> axes, steps(starts.size(), 1);
  if (c.has(3)) axes = c.integers_of(3, "axes");
  else axes.resize(starts.size()), std::iota(axes.begin(), axes.end(), 0);
  if (c.has(4)) steps = c.integers_of(4, "steps");
  axes = c.axes(std::move(axes), c.rank(y));
  c.require(!c.ok() || (ends.size() == starts.size() && axes.size() == starts.size() &&
                        steps.size() == starts.size()),
            "does not have a start, an end, an axis and a step for each axis",
            std::to_string(ends.size()), std::to_string(starts.size()), "onnx.slice.count");
  c.require(!c.ok() || starts.empty() || c.rank(y) > 0,
            "works along an axis of a tensor without axes", "0", "1", "onnx.operand.axis");
  for (size_t k = 0; k < starts.size() && c.ok(); ++k) {
    const i64 extent = c.shape(y)[axes[k]];
    const auto positions = slice_positions(starts[k], ends[k], steps[k], extent);
    c.require(positions && !positions->empty(), "the slice is empty",
              fmt::format("{}:{}:{}", starts[k], ends[k], steps[k]), fmt::format("0:{}:1", extent),
              "onnx.slice.empty");
    if (!c.ok()) return;
    const std::string suffix = k + 1 == starts.size() ? "" : fmt::format("axis{}", axes[k]);
    if (static_cast<i64>(positions->size()) == extent && steps[k] > 0) continue;
    y = steps[k] > 0
            ? sliced(c, y, axes[k], positions->front(), positions->back() + 1, steps[k], suffix)
            : picked(c, y, axes[k], *positions, suffix);
  }
  c.result(y);
}

static void import_split(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", 0), rank),
            parts = static_cast<i64>(c.results());
  c.require(!c.ok() || (rank > 0 && parts > 0), "works along an axis of a tensor without axes", "0",
            "1", "onnx.operand.axis");
  if (!c.ok()) return;
  std::vector<i64> sizes = c.has(1) ? c.integers_of(1, "sizes") : c.integers("split");
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis], each = (extent + parts - 1) / parts;
  const bool equal = sizes.empty();
  for (i64 k = 0; equal && k < parts; ++k) sizes.push_back(std::min(each, extent - k * each));
  c.require(!equal || sizes.back() > 0, "splits into more parts than there are elements",
            std::to_string(parts), std::to_string(extent), "onnx.split.parts");
  if (!c.ok()) return;
  const std::vector<Operand> y =
      c.torch_all("aten.split_with_sizes.default",
                  {{"self", x}, {"split_sizes", sizes}, {"dim", axis}}, c.results());
  for (size_t k = 0; k < y.size(); ++k)
    if (c.ok()) c.result(k, y[k]);
}

// By computed positions: rows of a table, which the axis of the positions makes of any tensor.
static Operand embedded(Call& c, const Operand& x, i64 axis, const Operand& index) {
  if (!c.ok()) return {};
  const Shape s = c.shape(x), at = c.shape(index);
  const i64 rank = static_cast<i64>(s.size()), extent = s[axis];
  const Operand rows = as_index(c, index, extent);
  Shape shape = at;
  if (axis == 0 && rank == 2) {
    shape.push_back(s[1]);
    return looked_up(c, x, rows, shape, "");
  }
  Axes order{axis}, back;
  for (i64 k = 0; k < rank; ++k)
    if (k != axis) order.push_back(k), shape.push_back(s[k]);
  const Operand front = axis == 0 ? x : permuted(c, x, order, "front");
  const i64 inner = numel(s) / std::max<i64>(extent, 1);
  Shape flat = at;
  flat.push_back(inner);
  const Operand table = view(c, front, {extent, inner}, "table");
  const Operand y = looked_up(c, table, rows, flat, "rows");
  const Operand split = view(c, y, shape, axis == 0 ? "" : "split");
  if (axis == 0) return split;
  const i64 places = static_cast<i64>(
      at.size());  // the axes of the positions go where the one was that they pick along
  for (i64 k = 0; k < axis; ++k) back.push_back(places + k);
  for (i64 k = 0; k < places; ++k) back.push_back(k);
  for (i64 k = places + axis; k < static_cast<i64>(shape.size()); ++k) back.push_back(k);
  return permuted(c, split, back, "");
}

// The axes of the table of positions stand in the place of the one that it picks along.
static void import_gather(Call& c) {
  const Operand x = c.operand(0), index = c.operand(1);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", 0), rank);
  c.require(!c.ok() || rank > 0, "picks from a tensor without axes", "0", "1", "onnx.operand.axis");
  if (!c.ok()) return;
  auto positions = c.known_integers(index);
  if (c.ok() && !positions) return c.result(embedded(c, x, axis, index));
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  for (i64& p : *positions) {
    c.require(p >= -extent && p < extent, "an index lies outside the axis", std::to_string(p),
              fmt::format("{}..{}", -extent, extent - 1), "onnx.gather.range");
    if (p < 0) p += extent;
  }
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  const Shape table = c.shape(index);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, table.begin(), table.end());
  if (positions->size() == 1) {
    const Operand one = sliced(c, x, axis, (*positions)[0], (*positions)[0] + 1, 1,
                               shape == c.shape(x) ? "" : "picked");
    return c.result(shape == c.shape(one) ? one : view(c, one, shape, ""));
  }
  const Operand y = picked(c, x, axis, *positions, table.size() == 1 ? "" : "picked");
  c.result(table.size() == 1 ? y : view(c, y, shape, ""));
}

// Pads in the model's order: all in front, then all behind. Negative ones cut. Up to opset 10 they
// are attributes.
static void import_pad(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x);
  const bool has_attributes = c.opset() < 11;
  const std::vector<i64> given = has_attributes ? c.integers("pads") : c.integers_of(1, "padding");
  std::vector<i64> axes;
  if (c.has(3)) axes = c.axes(c.integers_of(3, "axes"), rank);
  else axes.resize(static_cast<size_t>(rank)), std::iota(axes.begin(), axes.end(), 0);
  c.require(!c.ok() || given.size() == 2 * axes.size(), "the padding does not fit the axes",
            std::to_string(given.size()), std::to_string(2 * axes.size()), "onnx.pad.count");
  const std::string mode = c.text("mode", "constant");
  const double value = has_attributes ? c.number("value", 0) : c.number_of(2, "value", 0);
  if (!c.ok()) return;
  std::vector<i64> before(static_cast<size_t>(rank), 0), after = before;
  for (size_t k = 0; k < axes.size(); ++k)
    before[axes[k]] = given[k], after[axes[k]] = given[k + axes.size()];
  if (mode == "constant") return c.result(padded(c, x, before, after, value, ""));
  const char* torch_mode = mode == "reflect" ? "reflect"
                           : mode == "edge"  ? "replicate"
                           : mode == "wrap"  ? "circular"
                                             : "";
  c.require(*torch_mode, "pads in a way that is not supported", mode,
            "constant, reflect, edge, wrap", "onnx.pad.mode");
  if (!c.ok()) return;
  // torch leaves axis 0 alone in these modes: axes in front that are not padded are left out.
  size_t first = 0;
  while (first < before.size() && before[first] == 0 && after[first] == 0) ++first;
  if (first == before.size()) return c.result(x);
  c.require(first > 0, "pads axis 0 with elements of the tensor", mode, "constant",
            "onnx.pad.axis");
  const auto from = static_cast<std::ptrdiff_t>(first);
  c.result(c.torch("aten.pad.default", {{"self", x},
                                        {"pad", torch_padding({before.begin() + from, before.end()},
                                                              {after.begin() + from, after.end()})},
                                        {"mode", torch_mode}}));
}

static constexpr ImportRow kMovesRows[] = {
    {"Concat", import_concat, {}, true}, {"Gather", import_gather, {}, true}, {"Pad", import_pad},
    {"Slice", import_slice, {}, true},   {"Split", import_split, {}, true},
};
ImportRows moves_rows() { return kMovesRows; }

}  // namespace deuteron::onnx
