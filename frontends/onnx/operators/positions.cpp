// SPDX-License-Identifier: Apache-2.0
// Elements that are picked, moved or written at positions, most of which the model holds.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {
namespace {

i64 axis_of_elements(Call& c, const Operand& x, i64 otherwise) {
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", otherwise), rank);
  c.require(!c.ok() || rank > 0, "works along an axis of a tensor without axes", "0", "1",
            "onnx.operand.axis");
  return axis;
}

// Positions that each name a place of some axes, as places in one row of them.
struct Places {
  Shape table;              // of the positions, without the axis of those of one place
  i64 rows = 1, inner = 1;  // the places that there are, and the elements of each
  Shape rest;               // their shape
  Operand at;               // one for each place of the table, in a row
};

constexpr i64 kMostComputed = i64{1} << 24;  // float32 holds what counts such places

// Of one place by its positions `index`, which were checked: the batch comes first.
i64 place_of(Call& c, const i64* index, i64 depth, const i64* extents, i64 place) {
  for (i64 d = 0; d < depth && c.ok(); ++d) {
    const i64 extent = extents[d], position = index[d];
    c.require(position >= -extent && position < extent, "an index lies outside the axis",
              std::to_string(position), fmt::format("{}..{}", -extent, extent - 1),
              "onnx.gather.range");
    place = place * extent + (position < 0 ? position + extent : position);
  }
  return place;
}

// Of computed positions: each axis counts as many places as the axes behind it have.
Operand computed_places(Call& c, const Operand& index, i64 count, i64 depth, const i64* extents) {
  const Shape row{count};
  const Operand table =
      view(c, as_integers(c, index), depth == 1 ? row : Shape{count, depth}, "table");
  Operand at;
  for (i64 d = 0; d < depth && c.ok(); ++d) {
    const Operand column =
        depth == 1 ? table : view(c, sliced(c, table, 1, d, d + 1, 1, "column"), row, "column");
    const Operand position = as_index(c, column, extents[d]);
    if (d == 0) at = position;
    else {
      const Operand counted = c.torch_as("aten.mul.Scalar", {{"self", at}, {"other", extents[d]}},
                                         DType::s64, row, "counted");
      at = c.torch_as("aten.add.Tensor", {{"self", counted}, {"other", position}}, DType::s64, row,
                      "places");
    }
  }
  return at;
}

// `operand` [.., depth] names places by the axes of `x` behind the first `batch`, which both have.
Places read_places(Call& c, const Operand& x, size_t operand, i64 batch) {
  Places p;
  const Operand given = c.operand(operand);
  const Shape s = c.shape(x), t = c.shape(given);
  c.require(!c.ok() || (batch >= 0 && !t.empty() && batch < static_cast<i64>(t.size()) &&
                        batch + t.back() <= static_cast<i64>(s.size()) && t.back() >= 1),
            "names places by more axes than the tensor has", to_text(t), to_text(s),
            "onnx.gather.axes");
  for (i64 k = 0; c.ok() && k < batch; ++k)
    c.require(s[k] == t[k], "has other batch axes than its positions", to_text(s), to_text(t),
              "onnx.gather.axes");
  if (!c.ok() || !c.may_make(numel(t))) return p;
  const i64 depth = t.back(), count = numel(t) / depth, first = batch + depth;
  p.table.assign(t.begin(), t.end() - 1);
  p.rest.assign(s.begin() + first, s.end());
  p.inner = numel(p.rest);
  i64 batches = 1, named = 1;
  for (i64 k = 0; k < batch; ++k) batches *= s[k];
  for (i64 k = batch; k < first; ++k) named *= s[k];
  p.rows = batches * named;
  c.require(count > 0 && p.rows > 0 && p.inner > 0, "has no positions, or no elements", to_text(t),
            to_text(s), "onnx.slice.empty");
  if (!c.ok()) return p;
  if (batch == 0 && p.rows <= kMostComputed && !c.is_known(given)) {
    p.at = computed_places(c, given, count, depth, s.data());
    return p;
  }
  const std::vector<i64> index = c.integers_of(operand, "positions");
  std::vector<i64> places;
  for (i64 k = 0; k < count && c.ok(); ++k)
    places.push_back(
        place_of(c, index.data() + k * depth, depth, s.data() + batch, k / (count / batches)));
  p.at = c.known("positions", {DType::s64, {count}, {}}, places);
  return p;
}

Shape with_axes(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

static void import_gather_elements(Call& c) {
  const Operand x = c.operand(0), index = c.operand(1);
  const i64 axis = axis_of_elements(c, x, 0);
  if (!c.ok()) return;
  const Operand at = as_index(c, index, c.shape(x)[axis]);
  c.result(
      c.torch_as("aten.gather.default", along(x, axis, at, false), c.dtype(x), c.shape(index)));
}

static void import_gather_nd(Call& c) {
  const Operand x = c.operand(0);
  const Places p = read_places(c, x, 1, c.integer("batch_dims", 0));
  if (!c.ok()) return;
  const Shape out = with_axes(p.table, p.rest);
  const Operand rows = view(c, x, {p.rows, p.inner}, "rows");
  if (const auto known = c.known_integers(p.at))
    return c.result(view(c, picked(c, rows, 0, *known, "picked"), out, ""));
  const Shape flat{numel(c.shape(p.at)), p.inner};
  c.result(view(c, looked_up(c, rows, p.at, flat, "picked"), out, ""));
}

static void import_scatter_elements(Call& c) {
  const Operand x = c.operand(0), index = c.operand(1), updates = c.operand(2);
  const i64 axis = axis_of_elements(c, x, 0);
  const std::string reduction = c.text("reduction", "none");
  c.require(reduction == "none" || reduction == "add" || reduction == "max" || reduction == "min",
            "joins what it scatters in a way that is not supported", reduction,
            "none, add, max, min", "onnx.scatter.reduction");
  if (!c.ok()) return;
  const Operand at = as_index(c, index, c.shape(x)[axis]);
  Args args{{"self", x}, {"dim", axis}, {"index", at}, {"src", updates}};
  if (reduction == "max" || reduction == "min") {
    args.insert(args.end(),
                {{"reduce", reduction == "max" ? "amax" : "amin"}, {"include_self", true}});
    return c.result(c.torch("aten.scatter_reduce.two", std::move(args)));
  }
  c.result(c.torch_as(reduction == "add" ? "aten.scatter_add.default" : "aten.scatter.src",
                      std::move(args), c.dtype(x), c.shape(x)));
}

// Rows of the tensor, as many as the axes that the positions name have elements; of several writes
// to a row the last one counts.
static void import_scatter_nd(Call& c) {
  const Operand x = c.operand(0), updates = c.operand(2);
  const std::string reduction = c.text("reduction", "none");
  c.require(reduction == "none" || reduction == "add" || reduction == "max" || reduction == "min",
            "joins what it scatters in a way that is not supported", reduction,
            "none, add, max, min", "onnx.scatter.reduction");
  const Places p = read_places(c, x, 1, 0);
  if (!c.ok()) return;
  c.require(c.shape(updates) == with_axes(p.table, p.rest),
            "has updates that do not fit the positions", to_text(c.shape(updates)),
            to_text(with_axes(p.table, p.rest)), "onnx.scatter.extent");
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  const i64 count = numel(c.shape(p.at));
  const Operand rows = view(c, x, {p.rows, p.inner}, "rows"),
                source = view(c, updates, {count, p.inner}, "updates");
  Operand y;
  if (reduction == "max" || reduction == "min") {
    const auto known = c.known_integers(p.at);
    c.require(known.has_value(),
              "joins what it scatters to computed positions in a way that is not supported",
              reduction, "none, add", "onnx.scatter.reduction");
    if (!c.ok() || !c.may_make(count * p.inner)) return;
    std::vector<i64> each;
    for (const i64 row : *known) each.insert(each.end(), static_cast<size_t>(p.inner), row);
    const Operand at = c.known("positions", {DType::s64, {count, p.inner}, {}}, each);
    y = c.torch("aten.scatter_reduce.two",
                {{"self", rows},
                 {"dim", 0},
                 {"index", at},
                 {"src", source},
                 {"reduce", reduction == "max" ? "amax" : "amin"}},
                "written");
  } else {
    y = written(c, rows, 0, p.at, source, reduction == "add", "written");
  }
  c.result(view(c, y, shape, ""));
}

// The elements of an axis, or of all axes in one row, where the condition holds; it may be shorter
// than that axis.
static void import_compress(Call& c) {
  Operand x = c.operand(0);
  const std::vector<i64> condition = c.integers_of(1, "condition");
  const bool in_a_row = !c.has_attribute("axis");
  if (!c.ok()) return;
  if (in_a_row) x = view(c, x, {numel(c.shape(x))}, "row");
  const i64 axis = axis_of_elements(c, x, 0);
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  std::vector<i64> positions;
  for (size_t k = 0; k < condition.size(); ++k)
    if (condition[k] != 0) positions.push_back(static_cast<i64>(k));
  c.require(!positions.empty(), "picks no elements", "0", "1", "onnx.slice.empty");
  c.require(positions.empty() || positions.back() < extent, "an index lies outside the axis",
            positions.empty() ? "" : std::to_string(positions.back()),
            fmt::format("0..{}", extent - 1), "onnx.gather.range");
  if (c.ok()) c.result(picked(c, x, axis, positions, ""));
}

// The first elements of each sequence in reverse, as many as its length says; axes 0 and 1 are
// those of time and of sequences.
static void import_reverse_sequence(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> lengths = c.integers_of(1, "lengths");
  const i64 time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
  c.require(!c.ok() || (c.rank(x) >= 2 && time + batch == 1 && time * batch == 0),
            "has other axes of time and sequences than 0 and 1", fmt::format("{}, {}", time, batch),
            "0, 1", "onnx.operand.axis");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 steps = s[time], sequences = s[batch];
  c.require(static_cast<i64>(lengths.size()) == sequences,
            "does not have a length for each sequence", std::to_string(lengths.size()),
            std::to_string(sequences), "onnx.sequence.lengths");
  for (const i64 length : lengths)
    c.require(length >= 0 && length <= steps, "has a length out of range", std::to_string(length),
              fmt::format("0..{}", steps), "onnx.sequence.lengths");
  if (!c.ok() || !c.may_make(steps * sequences)) return;
  std::vector<i64> from;
  for (i64 a = 0; a < s[0]; ++a)
    for (i64 b = 0; b < s[1]; ++b) {
      const i64 t = time == 0 ? a : b, n = time == 0 ? b : a,
                length = lengths[static_cast<size_t>(n)];
      const i64 source = t < length ? length - 1 - t : t;
      from.push_back(time == 0 ? source * sequences + n : n * steps + source);
    }
  const Operand rows = view(c, x, {steps * sequences, numel(s) / (steps * sequences)}, "rows");
  c.result(view(c, picked(c, rows, 0, from, "reversed"), s, ""));
}

// Cut or padded with zeros to the wanted extents, the middle in the middle.
static void import_center_crop_pad(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> wanted = c.integers_of(1, "shape");
  const i64 rank = c.rank(x);
  std::vector<i64> axes = c.axes(c.integers("axes"), rank);
  if (!c.has_attribute("axes"))
    axes.resize(static_cast<size_t>(rank)), std::iota(axes.begin(), axes.end(), 0);
  c.require(!c.ok() || wanted.size() == axes.size(), "does not have an extent for each axis",
            std::to_string(wanted.size()), std::to_string(axes.size()), "onnx.pad.count");
  for (const i64 extent : wanted)
    c.require(!c.ok() || (extent >= 1 && extent <= pt2::kMaxElements), "has an extent out of range",
              std::to_string(extent), fmt::format("1..{}", pt2::kMaxElements), "onnx.slice.empty");
  if (!c.ok()) return;
  Operand y = x;
  std::vector<i64> before(static_cast<size_t>(rank), 0), after = before;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k) {
    const i64 extent = c.shape(y)[axes[k]], more = wanted[k] - extent;
    if (more < 0)
      y = sliced(c, y, axes[k], -more / 2, -more / 2 + wanted[k], 1,
                 fmt::format("axis{}", axes[k]));
    else before[axes[k]] = more / 2, after[axes[k]] = more - more / 2;
  }
  const bool pads = std::any_of(after.begin(), after.end(), [](i64 v) { return v != 0; });
  c.result(pads ? padded(c, y, before, after, 0, "") : y);
}

static constexpr ImportRow kPositionsRows[] = {
    {"CenterCropPad", import_center_crop_pad},
    {"Compress", import_compress, {}, true},
    {"GatherElements", import_gather_elements},
    {"GatherND", import_gather_nd, {}, true},
    {"ReverseSequence", import_reverse_sequence, {}, true},
    {"ScatterElements", import_scatter_elements},
    {"ScatterND", import_scatter_nd},
};
ImportRows positions_rows() { return kPositionsRows; }

}  // namespace deuteron::onnx
