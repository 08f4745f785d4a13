// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by tables of positions, known or computed: index, index_select,
// take_along_dim. Known positions are gathers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "frontends/pt2/operators/known_sizes.h"
#include "frontends/pt2/operators/row_writes.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

void require_positions(Call& c, ValueId index) {
  if (!c.ok()) return;
  const DType dtype = c.type(index).dtype;
  c.give_up_if_broken(index);
  c.require(!c.ok() || dtype == DType::s64 || dtype == DType::s32, "picks by what are no integers",
            std::string(name_of(dtype)), "s64, s32", "pt2.index.dtype");
}

// Known positions along an axis of `extent` elements; negative ones count from the end. Nothing
// where they are computed.
std::optional<Axes> known_positions(Call& c, ValueId index, i64 extent) {
  const std::optional<std::vector<float>> numbers = c.known_numbers(index);
  if (!numbers) return std::nullopt;
  Axes positions = positions_of(c, *numbers, extent);
  return c.ok() ? std::optional(std::move(positions)) : std::nullopt;
}

// The tables of an index and the axes of x that they pick along.
struct Tables {
  Axes axes;
  std::vector<ValueId> values;
  Shape shape;  // of all of them, broadcast
};
Tables read_tables(Call& c, const std::vector<ValueId>& given, ValueId x) {
  Tables t;
  for (size_t k = 0; k < given.size() && c.ok(); ++k) {
    if (given[k] < 0) continue;
    require_positions(c, given[k]);
    const std::optional<Shape> both =
        c.ok() ? broadcast_shape(t.shape, c.shape(given[k])) : std::nullopt;
    c.require(!c.ok() || both, "its tables do not fit each other", to_text(t.shape),
              c.ok() ? to_text(c.shape(given[k])) : "", "pt2.index.shape");
    if (!c.ok()) break;
    t.shape = *both;
    t.axes.push_back(static_cast<i64>(k));
    t.values.push_back(given[k]);
  }
  c.require(!c.ok() || (!t.axes.empty() && static_cast<i64>(given.size()) <= c.rank(x)),
            "picks along no axis, or along one that is not there", std::to_string(given.size()),
            c.ok() ? fmt::format("1..{}", c.rank(x)) : "", "pt2.index.axes");
  return t;
}

bool are_neighbours(const Axes& axes) {
  return axes.back() - axes.front() + 1 == static_cast<i64>(axes.size());
}

// Axes of x with those that are picked along in front; neighbours stay where they are if they may.
Axes picked_first(const Axes& picked, i64 rank) {
  Axes perm = picked;
  for (i64 k = 0; k < rank; ++k)
    if (std::find(picked.begin(), picked.end(), k) == picked.end()) perm.push_back(k);
  return perm;
}

// All positions are known: a gather along one axis, which the picked ones are together.
void pick_known(Call& c, ValueId x, const Tables& t, const std::vector<Axes>& positions) {
  const bool stay = are_neighbours(t.axes);
  const ValueId moved = stay ? x : c.permute(x, picked_first(t.axes, c.rank(x)), "axes");
  if (!c.ok()) return;
  const i64 place = stay ? t.axes.front() : 0;
  const auto first = static_cast<size_t>(place), count = t.axes.size();
  const Shape whole = c.shape(moved);
  Shape shape = whole, joined = whole;
  shape.erase(shape.begin() + place, shape.begin() + place + static_cast<i64>(count));
  shape.insert(shape.begin() + place, t.shape.begin(), t.shape.end());
  if (!c.check_declared_shape(0, shape)) return;  // before as many positions are made
  if (numel(shape) == 0) return c.result(nothing(c, c.type(x).dtype, std::move(shape)));
  Axes index(static_cast<size_t>(numel(t.shape)), 0);
  for (size_t k = 0; k < count; ++k) {
    const std::vector<float> all =
        broadcast_numbers(std::vector<float>(positions[k].begin(), positions[k].end()),
                          c.shape(t.values[k]), t.shape);
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = index[i] * whole[first + k] + static_cast<i64>(all[i]);
  }
  joined[first] = numel(std::span(whole).subspan(first, count));
  joined.erase(joined.begin() + place + 1, joined.begin() + place + static_cast<i64>(count));
  const ValueId flat = c.reshape(moved, joined, "joined");
  c.result(c.reshape(picked(c, flat, place, std::move(index), t.shape.size() == 1 ? "" : "picked"),
                     std::move(shape)));
}

// index.Tensor_out(x, tables, out) with the picked axes in front.
void pick_computed(Call& c, ValueId x, const Tables& t) {
  const ValueId moved = c.permute(x, picked_first(t.axes, c.rank(x)), "axes");
  if (!c.ok()) return;
  const auto count = static_cast<i64>(t.axes.size()), picked = static_cast<i64>(t.shape.size());
  Shape shape = t.shape;
  shape.insert(shape.end(), c.shape(moved).begin() + count, c.shape(moved).end());
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = "aten::index", call.overload = "Tensor_out";
  KernelArg tables{K::inputs, 0, 0, {}, {}};
  std::vector<ValueId> inputs{moved};
  for (const ValueId v : t.values)
    tables.integers.push_back(static_cast<i64>(inputs.size())), inputs.push_back(v);
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(moved))},
               tables,
               {K::output, 0, 0, {}, plain_face(shape)}};
  const std::vector<ValueId> results =
      c.add_call(std::move(call), std::move(inputs), {{c.type(x).dtype, shape, {}}});
  if (!c.ok()) return;
  // The axes of the tables stand where the picked ones were, if those were neighbours.
  Axes perm(shape.size());
  std::iota(perm.begin(), perm.end(), 0);
  if (are_neighbours(t.axes))
    std::rotate(perm.begin(), perm.begin() + picked, perm.begin() + picked + t.axes.front());
  c.result(c.permute(results[0], perm, "back"));
}

}  // namespace

// x[a, :, b]: a table of positions for some axes, of any number of axes; None or nothing for the
// others.
static void import_index(Call& c) {
  const ValueId x = movable(c, "self");
  const std::vector<ValueId> given = without_masks(c, c.optional_tensors("indices"));
  if (!c.ok()) return;
  const Tables t = read_tables(c, given, x);
  if (!c.ok()) return;
  std::vector<Axes> positions;
  for (size_t k = 0; k < t.axes.size() && c.ok(); ++k)
    if (auto known = known_positions(c, t.values[k], c.shape(x)[t.axes[k]]))
      positions.push_back(std::move(*known));
  if (!c.ok()) return;
  if (positions.size() == t.axes.size()) pick_known(c, x, t, positions);
  else pick_computed(c, x, t);
}

static void import_index_select(Call& c) {
  const ValueId x = movable(c, "self"), index = c.any_tensor("index");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  require_positions(c, index);
  c.require(!c.ok() || c.rank(index) <= 1, "picks by a table of more than one axis",
            c.ok() ? std::to_string(c.rank(index)) : "", "1", "pt2.index.rank");
  if (!c.ok()) return;
  auto positions = known_positions(c, index, c.shape(x)[axis]);
  if (!c.ok()) return;
  if (positions) return c.result(picked(c, x, axis, std::move(*positions)));
  Shape shape = c.shape(x);
  shape[axis] = c.type(index).elements();
  c.result(kernel_result(c, "aten::index_select.out", {x, whole(axis), index},
                         {c.type(x).dtype, shape, {}}));
}

// Known positions that count from the end, as positions from the start.
static ValueId from_the_start(Call& c, ValueId index, i64 extent) {
  auto known = c.known_numbers(index);
  if (!known || std::none_of(known->begin(), known->end(), [](float at) { return at < 0; }))
    return index;
  for (float& at : *known) at = static_cast<float>(position_of(c, at, extent));
  return c.known_value(c.type(index), *known, "positions_from_start");
}

// gather, whose operands are broadcast against each other but for the axis that it picks along;
// without one they lie in one row.
static void import_take_along(Call& c) {
  ValueId x = movable(c, "self"), index = c.any_tensor("indices");
  require_positions(c, index);
  if (!c.ok()) return;
  const bool flat = !c.has("dim");
  if (flat)
    x = c.reshape(x, {c.type(x).elements()}, "row"),
    index = c.reshape(index, {c.type(index).elements()}, "positions");
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(x));
  c.require(!c.ok() || c.rank(x) == c.rank(index), "its operands have different ranks",
            c.ok() ? std::to_string(c.rank(index)) : "", c.ok() ? std::to_string(c.rank(x)) : "",
            "pt2.index.rank");
  if (!c.ok()) return;
  Shape from = c.shape(x), to = c.shape(index);
  for (size_t k = 0; k < from.size(); ++k)
    if (static_cast<i64>(k) != axis) from[k] = to[k] = std::max(from[k], to[k]);
  x = expanded(c, x, from, "repeated");
  index = expanded(c, from_the_start(c, index, from[axis]), to, "repeated_positions");
  if (!c.ok()) return;
  c.result(kernel_result(c, "aten::gather.out", {x, whole(axis), index, truth(false)},
                         {c.type(x).dtype, to, {}}));
}

static constexpr ImportRow kPickingRows[] = {
    {"aten.index.Tensor", import_index},
    {"aten.index_select.default", import_index_select},
    {"aten.take_along_dim.default", import_take_along},
};
ImportRows picking_rows() { return kPickingRows; }

}  // namespace deuteron::pt2
