// SPDX-License-Identifier: Apache-2.0
// Writing at positions that several axes, or a mask, name: index_put, masked_scatter,
// diagonal_scatter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/choices.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/computed_writes.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/known_sizes.h"
#include "frontends/pt2/operators/row_writes.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

// What index_put writes to: the axes that are indexed in front, as rows; and for each place of the
// index its row.
struct Indexed {
  Axes axes, perm;
  Shape places;  // of the index, broadcast
  Axes to;
  // the axes are neighbours: the index's axes stand in their place, else in front
  bool together = true;
};

// The axes that are indexed, by whatever table, and the others behind them.
void note_axis(Indexed& in, i64 axis) {
  in.together = in.together && (in.axes.empty() || in.axes.back() + 1 == axis);
  in.axes.push_back(axis);
}
Axes in_front(const Axes& axes, i64 rank) {
  Axes perm = axes;
  for (i64 k = 0; k < rank; ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) perm.push_back(k);
  return perm;
}

// Tables of known positions; a mask counts for as many axes as it has.
std::optional<Indexed> read_index(Call& c, const Shape& x, const std::vector<ValueId>& tables) {
  struct Table {
    i64 axis;
    Shape shape;
    std::vector<float> at;
  };
  std::vector<Table> known;
  i64 axis = 0;
  for (const ValueId v : tables) {
    if (v < 0) {
      ++axis;
      continue;
    }
    const auto numbers = c.known_numbers(v);
    c.require(numbers.has_value(),
              "works at positions that are computed: only constant positions are supported", "", "",
              "pt2.index.constant");
    const bool mask = c.type(v).dtype == DType::b8;
    c.require(axis + (mask ? c.rank(v) : 1) <= static_cast<i64>(x.size()),
              "has more indices than axes", std::to_string(axis + 1), std::to_string(x.size()),
              "pt2.index.axes");
    if (!c.ok()) return std::nullopt;
    if (!mask) {
      known.push_back({axis++, c.shape(v), *numbers});
      continue;
    }
    const Shape shape = c.shape(v);
    for (const Axes& places : places_not_zero(shape, *numbers)) {
      Table& table = known.emplace_back(Table{axis, {static_cast<i64>(places.size())}, {}});
      table.at.assign(places.begin(), places.end());
      ++axis;
    }
  }
  Indexed in;
  Shape places;
  for (const Table& t : known) {
    const auto both = broadcast_shape(places, t.shape);
    c.require(both.has_value(), "the indices do not broadcast", to_text(t.shape), to_text(places),
              "pt2.index_put.tables");
    if (!c.ok()) return std::nullopt;
    places = *both;
    c.require(numel(places) <= kMaxElements, "the indices name too many places",
              std::to_string(numel(places)), std::to_string(kMaxElements), "pt2.index_put.tables");
    if (!c.ok()) return std::nullopt;
    note_axis(in, t.axis);
  }
  c.require(!in.axes.empty(), "has no index", "0", "1", "pt2.index.axes");
  if (!c.ok()) return std::nullopt;
  in.places = places;
  in.to.assign(static_cast<size_t>(numel(places)), 0);
  for (const Table& t : known) {
    const i64 extent = x[t.axis];
    const std::vector<float> at = broadcast_numbers(t.at, t.shape, places);
    for (size_t k = 0; k < at.size(); ++k)
      in.to[k] = in.to[k] * extent + position_of(c, at[k], extent);
  }
  in.perm = in_front(in.axes, static_cast<i64>(x.size()));
  return c.ok() ? std::optional(in) : std::nullopt;
}

// The values, broadcast to what the index picks, with the index's axes in front: [places, inner].
ValueId rows_of_values(Call& c, ValueId values, const Indexed& in, const Shape& x) {
  const size_t count = in.places.size(), first = in.together ? static_cast<size_t>(in.axes[0]) : 0;
  Shape full, rest;
  for (size_t k = in.axes.size(); k < in.perm.size(); ++k) rest.push_back(x[in.perm[k]]);
  full = rest;
  full.insert(full.begin() + static_cast<std::ptrdiff_t>(first), in.places.begin(),
              in.places.end());
  Shape given = c.shape(values);
  while (given.size() > full.size() && given[0] == 1) given.erase(given.begin());
  const auto both = broadcast_shape(full, given);
  c.require(both && *both == full, "the values do not fit the index", to_text(given), to_text(full),
            "pt2.scatter.extent");
  if (!c.ok()) return -1;
  given.insert(given.begin(), full.size() - given.size(), 1);
  values = c.reshape(values, given, "axes");
  if (given != full) values = c.add(Expand{full}, {values}, "values");
  Axes perm;
  for (size_t k = 0; k < count; ++k) perm.push_back(static_cast<i64>(first + k));
  for (size_t k = 0; k < full.size(); ++k)
    if (k < first || k >= first + count) perm.push_back(static_cast<i64>(k));
  return c.reshape(c.permute(values, perm, "values"), {numel(in.places), numel(rest)}, "values");
}

// x[mask] = value, with a mask that is computed and one value for all.
bool chosen_by_mask(Call& c, ValueId x, const std::vector<ValueId>& tables, ValueId values,
                    bool accumulate) {
  if (tables.size() != 1 || tables[0] < 0 || c.type(tables[0]).dtype != DType::b8 ||
      c.is_derived_from_constants(tables[0]))
    return false;
  if (c.type(values).elements() != 1 || accumulate) return false;
  Shape shape = c.shape(tables[0]);
  shape.resize(static_cast<size_t>(std::max(c.rank(x), c.rank(tables[0]))), 1);
  const ValueId mask = c.reshape(tables[0], std::move(shape), "mask"),
                value = c.reshape(values, {}, "value");
  const ValueId chosen = chosen_by_kernel(c, mask, value, x, {DType::f32, c.shape(x), {}});
  if (c.ok()) c.result(chosen);
  return true;
}

bool is_computed(Call& c, const std::vector<ValueId>& tables) {
  return std::any_of(tables.begin(), tables.end(),
                     [&](ValueId v) { return v >= 0 && !c.is_derived_from_constants(v); });
}

// Tables of integers, some of them computed.
std::optional<Indexed> read_computed_index(Call& c, const Shape& x,
                                           const std::vector<ValueId>& tables) {
  Indexed in;
  c.require(tables.size() <= x.size(), "has more indices than axes", std::to_string(tables.size()),
            std::to_string(x.size()), "pt2.index.axes");
  for (size_t k = 0; k < tables.size() && c.ok(); ++k) {
    if (tables[k] < 0) continue;
    const DType dtype = c.type(tables[k]).dtype;
    c.require(dtype == DType::s64 || dtype == DType::s32,
              "works at positions of a computed mask, beside others or with several values",
              std::string(name_of(dtype)), "s64, s32", "pt2.index.constant");
    const auto both = broadcast_shape(in.places, c.shape(tables[k]));
    c.require(both.has_value(), "the indices do not broadcast", to_text(c.shape(tables[k])),
              to_text(in.places), "pt2.index_put.tables");
    if (!c.ok()) return std::nullopt;
    in.places = *both;
    c.require(numel(in.places) <= kMaxElements, "the indices name too many places",
              std::to_string(numel(in.places)), std::to_string(kMaxElements),
              "pt2.index_put.tables");
    if (!c.ok()) return std::nullopt;
    note_axis(in, static_cast<i64>(k));
  }
  in.perm = in_front(in.axes, static_cast<i64>(x.size()));
  return c.ok() ? std::optional(in) : std::nullopt;
}

// Along one axis slices are written; along several the kernel gets them in front.
void put_at_computed(Call& c, ValueId x, const std::vector<ValueId>& tables, ValueId values,
                     bool accumulate) {
  const auto in = read_computed_index(c, c.shape(x), tables);
  if (!in) return;
  const ValueId rows = rows_of_values(c, values, *in, c.shape(x)),
                moved = c.permute(x, in->perm, "self");
  if (!c.ok()) return;
  const Shape front = c.shape(moved);
  if (in->axes.size() == 1) {
    const i64 axis = in->axes[0];
    const ValueId table = tables[static_cast<size_t>(axis)];
    Shape part = front;
    part[0] = numel(in->places);
    Axes back(part.size());
    for (size_t k = 0; k < back.size(); ++k)
      back[static_cast<size_t>(in->perm[k])] = static_cast<i64>(k);
    const ValueId source = c.permute(c.reshape(rows, part, "slices"), back, "source");
    return c.result(written_along(c, x, axis, table, source, accumulate));
  }
  const size_t count = in->axes.size();
  Shape matrix(front.begin(), front.begin() + static_cast<std::ptrdiff_t>(count)),
      picked = in->places;
  const i64 inner = numel(front) / numel(matrix);
  matrix.push_back(inner), picked.push_back(inner);
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = "aten::index_put", call.overload = "out";
  std::vector<ValueId> inputs{c.reshape(moved, matrix, "rows")};
  KernelArg list{K::inputs, 0, 0, {}, {}};
  for (const i64 axis : in->axes)
    list.integers.push_back(static_cast<i64>(inputs.size())),
        inputs.push_back(tables[static_cast<size_t>(axis)]);
  inputs.push_back(c.reshape(rows, picked, "values"));
  call.args = {{K::input, 0, 0, {}, plain_face(matrix)},
               list,
               {K::input, static_cast<i64>(inputs.size()) - 1, 0, {}, plain_face(picked)},
               {K::boolean, accumulate, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(matrix)}};
  const std::vector<ValueId> results =
      c.add_call(std::move(call), std::move(inputs), {{c.type(x).dtype, matrix, {}}});
  if (c.ok()) c.result(from_rows(c, {-1, front, in->perm}, results[0]));
}

}  // namespace

static void import_index_put(Call& c) {
  const ValueId x = c.tensor("self"), values = c.tensor("values");
  const std::vector<ValueId> tables = c.optional_tensors("indices");
  const bool accumulate = c.boolean("accumulate");
  for (const ValueId v : tables)
    if (v >= 0) c.give_up_if_broken(v);
  if (!c.ok() || chosen_by_mask(c, x, tables, values, accumulate)) return;
  if (is_computed(c, tables)) return put_at_computed(c, x, tables, values, accumulate);
  const auto in = read_index(c, c.shape(x), tables);
  if (!in) return;
  if (in->to.empty()) return c.result(x);
  Rows rows{-1, {}, in->perm};
  const ValueId moved = c.permute(x, in->perm, "self");
  if (!c.ok()) return;
  rows.shape = c.shape(moved);
  i64 count = 1;
  for (size_t k = 0; k < in->axes.size(); ++k) count *= rows.shape[k];
  rows.value = c.reshape(moved, {count, numel(rows.shape) / count}, "self");
  const ValueId source = rows_of_values(c, values, *in, c.shape(x));
  c.result(from_rows(c, rows,
                     accumulate ? accumulated(c, rows.value, source, in->to)
                                : overwritten(c, rows.value, source, in->to)));
}

// The k-th place where the mask holds becomes element k of the source.
static void import_masked_scatter(Call& c) {
  const ValueId x = c.tensor("self"), mask = c.any_tensor("mask"), source = c.tensor("source");
  const auto known = c.known_numbers(mask);
  c.require(!c.ok() || known.has_value(),
            "works with a mask that is computed: only constant masks are supported", "", "",
            "pt2.index.constant");
  if (!c.ok()) return;
  const auto full = broadcast_shape(c.shape(x), c.shape(mask));
  c.require(full && *full == c.shape(x), "the mask does not fit", to_text(c.shape(mask)),
            to_text(c.shape(x)), "pt2.where.shape");
  if (!c.ok()) return;
  const std::vector<float> holds = broadcast_numbers(*known, c.shape(mask), *full);
  Axes to;
  for (size_t k = 0; k < holds.size(); ++k)
    if (holds[k] != 0) to.push_back(static_cast<i64>(k));
  const i64 count = static_cast<i64>(to.size()), given = c.type(source).elements();
  c.require(count <= given, "the source has fewer elements than the mask has places",
            std::to_string(given), std::to_string(count), "pt2.scatter.extent");
  if (!c.ok()) return;
  if (count == 0) return c.result(x);
  ValueId parts = c.reshape(source, {given, 1}, "parts");
  if (count < given) parts = c.add(Slice{0, 0, count, 1}, {parts}, "leading");
  c.result(c.reshape(overwritten(c, c.reshape(x, {c.type(x).elements(), 1}, "flat"), parts, to),
                     c.shape(x)));
}

static void import_diagonal_scatter(Call& c) {
  const ValueId x = c.tensor("self"), source = c.tensor("src");
  const i64 rank = c.rank(x), offset = c.integer("offset"), a = c.axis("dim1", rank),
            b = c.axis("dim2", rank);
  c.require(!c.ok() || (rank >= 2 && a != b), "works on matrices", std::to_string(rank), "2",
            "pt2.diagonal.rank");
  c.require(!c.ok() || std::abs(static_cast<double>(offset)) <= static_cast<double>(kMaxElements),
            "the offset is out of range", std::to_string(offset), std::to_string(kMaxElements),
            "pt2.diagonal.offset");
  if (!c.ok()) return;
  Rows rows{-1, {}, {a, b}};
  for (i64 k = 0; k < rank; ++k)
    if (k != a && k != b) rows.perm.push_back(k);
  const ValueId moved = c.permute(x, rows.perm, "self");
  if (!c.ok()) return;
  rows.shape = c.shape(moved);
  const i64 h = rows.shape[0], w = rows.shape[1], inner = numel(rows.shape) / (h * w);
  Axes to;
  for (i64 row = std::max<i64>(-offset, 0); row < h && row + offset < w; ++row)
    to.push_back(row * w + row + offset);
  const i64 last = c.rank(source) - 1, count = static_cast<i64>(to.size());
  c.require(last >= 0 && count >= 1 && c.shape(source)[last] == count &&
                c.type(source).elements() == count * inner,
            "the part does not fit the diagonal", to_text(c.shape(source)), std::to_string(count),
            "pt2.scatter.extent");
  if (!c.ok()) return;
  rows.value = c.reshape(moved, {h * w, inner}, "self");
  c.result(from_rows(c, rows,
                     overwritten(c, rows.value, rows_along(c, source, last, "part").value, to)));
}

static constexpr ImportRow kIndexPutRows[] = {
    {"aten.diagonal_scatter.default", import_diagonal_scatter},
    {"aten.index_put.default", import_index_put, true},
    {"aten.masked_scatter.default", import_masked_scatter, true},
};
ImportRows index_put_rows() { return kIndexPutRows; }

}  // namespace deuteron::pt2
