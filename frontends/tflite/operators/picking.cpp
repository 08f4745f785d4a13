// SPDX-License-Identifier: Apache-2.0
// Operators that pick rows or put them back, by positions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"

namespace deuteron::tflite {
namespace {

// TFLite takes no positions from the end.
void require_positions(Call& c, const Axes& index, i64 extent) {
  for (const i64 at : index)
    c.require(at >= 0 && at < extent, "picks what its operand does not have", std::to_string(at),
              fmt::format("0..{}", extent - 1), "tflite.gather.index");
}

// What is picked along `axis` has the axes of the positions in its place.
Shape with_axes_at(Shape shape, i64 axis, const Shape& positions) {
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, positions.begin(), positions.end());
  return shape;
}

// By positions that are computed.
void finish_lookup(Call& c, ValueId x, ValueId positions, i64 axis) {
  if (!c.ok()) return;
  const i64 count = c.type(positions).elements();
  Type picked{c.type(x).dtype, c.shape(x), {}};
  picked.shape[axis] = count;
  Shape to = with_axes_at(c.shape(x), axis, c.shape(positions));
  positions = c.reshape(positions, {count}, "positions");
  if (!c.ok()) return;
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = "aten::index_select", call.overload = "out";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               integer_argument(axis),
               {K::input, 1, 0, {}, plain_face({count})},
               {K::output, 0, 0, {}, plain_face(picked.shape)}};
  c.result(c.reshape(c.add_call(std::move(call), {x, positions}, std::move(picked), "picked"),
                     std::move(to)));
}

// Of [batch, outer, extent, inner] the positions [batch, count] along `extent`: rows of [batch *
// extent, outer * inner].
void finish_batched_gather(Call& c, ValueId x, Axes index, i64 batch_axes, i64 axis) {
  const Shape s = c.shape(x), positions = c.declared(1).shape;
  c.require(batch_axes >= 0 && batch_axes <= axis &&
                batch_axes <= static_cast<i64>(positions.size()) &&
                std::equal(s.begin(), s.begin() + batch_axes, positions.begin()),
            "has batch axes that its operands do not share", std::to_string(batch_axes),
            fmt::format("0..{}", axis), "tflite.gather.batch_dims");
  if (!c.ok() || !can_pick(c, c.type(x).elements())) return;
  const std::span<const i64> extents(s);
  const i64 batch = numel(extents.first(batch_axes)),
            outer = numel(extents.subspan(batch_axes, axis - batch_axes)), extent = s[axis];
  const i64 inner = numel(extents.subspan(axis + 1)),
            count = static_cast<i64>(index.size()) / batch;
  for (i64 k = 0; k < batch * count; ++k) index[k] += k / count * extent;
  x = c.permute(c.reshape(x, {batch, outer, extent, inner}, "batches"), {0, 2, 1, 3}, "rows_first");
  x = picked(c, c.reshape(x, {batch * extent, outer * inner}, "rows"), 0, std::move(index),
             "picked");
  x = c.permute(c.reshape(x, {batch, count, outer, inner}, "batches_of_rows"), {0, 2, 1, 3},
                "rows_behind");
  Shape to(s.begin(), s.begin() + axis);
  to.insert(to.end(), positions.begin() + batch_axes, positions.end());
  to.insert(to.end(), s.begin() + axis + 1, s.end());
  c.result(c.reshape(x, std::move(to)));
}

// Computed positions [.., n] of the first n axes.
void finish_computed_gather_nd(Call& c, ValueId x) {
  const ValueId numbers = row_numbers(c, c.in(1), c.shape(x));
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const auto axes = static_cast<std::ptrdiff_t>(c.declared(1).shape.back());
  Shape rows{numel(std::span(s).first(static_cast<size_t>(axes)))};
  rows.insert(rows.end(), s.begin() + axes, s.end());
  finish_lookup(c, c.reshape(x, std::move(rows), "rows"), numbers, 0);
}

}  // namespace

static void import_gather(Call& c) {
  const auto* o = c.options<GatherOptions>();
  c.takes(2, 2);
  const ValueId x = c.in(0);
  if (!c.ok()) return;
  const i64 axis = c.axis(o->axis(), c.rank(x));
  if (!c.is_constant(1) && o->batch_dims() == 0) return finish_lookup(c, x, c.in(1), axis);
  Axes index = c.integers(1);
  if (!c.ok()) return;
  require_positions(c, index, c.shape(x)[axis]);
  const i64 batch_axes =
      o->batch_dims() < 0 ? o->batch_dims() + c.declared(1).rank() : o->batch_dims();
  if (!c.ok() || batch_axes != 0)
    return finish_batched_gather(c, x, std::move(index), batch_axes, axis);
  Shape to = with_axes_at(c.shape(x), axis, c.declared(1).shape);
  c.result(c.reshape(picked(c, x, axis, std::move(index), "picked"), std::move(to)));
}

// The last axis of the positions [.., n] has one for each of the first n axes.
static void import_gather_nd(Call& c) {
  c.takes(2, 2);
  ValueId x = c.in(0);
  const Shape positions = c.declared(1).shape;
  c.require(
      !c.ok() || (!positions.empty() && positions.back() >= 1 && positions.back() <= c.rank(x)),
      "has positions for another number of axes",
      positions.empty() ? "0" : std::to_string(positions.back()), fmt::format("1..{}", c.rank(x)),
      "tflite.gather_nd.axes");
  if (c.ok() && !c.is_constant(1)) return finish_computed_gather_nd(c, x);
  const Axes given = c.integers(1);
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const size_t axes = static_cast<size_t>(positions.back());
  Axes index(given.size() / axes, 0);
  for (size_t k = 0; k < given.size(); ++k) {
    const i64 extent = s[k % axes];
    require_positions(c, {given[k]}, extent);
    if (!c.ok()) return;
    index[k / axes] = index[k / axes] * extent + given[k];
  }
  Shape to(positions.begin(), positions.end() - 1);
  to.insert(to.end(), s.begin() + static_cast<i64>(axes), s.end());
  const i64 rows = numel(std::span(s).first(axes));
  x = picked(c, c.reshape(x, {rows, numel(std::span(s).subspan(axes))}, "rows"), 0,
             std::move(index), "picked");
  c.result(c.reshape(x, std::move(to)));
}

static void import_embedding_lookup(Call& c) {
  c.takes(2, 2);
  const ValueId positions = c.in(0), table = c.in(1);
  c.require(c.rank(positions) == 1 && c.rank(table) >= 2,
            "takes positions of one axis and a table of two",
            fmt::format("{}, {}", c.rank(positions), c.rank(table)), "1, 2..",
            "tflite.operand.rank");
  if (!c.ok()) return;
  if (!c.is_constant(0)) return finish_lookup(c, table, positions, 0);
  Axes index = c.integers(0);
  require_positions(c, index, c.shape(table)[0]);
  if (c.ok()) c.result(picked(c, table, 0, std::move(index)));
}

// An update at a computed position of one axis, as a cache is written: row `start` of the axis and
// those behind it are replaced.
static void finish_computed_update(Call& c, ValueId x, ValueId y) {
  const ValueId starts = c.in(2);
  if (!c.ok()) return;
  const Shape whole = c.shape(x), some = c.shape(y);
  const i64 rank = c.rank(x);
  std::vector<i64> open;
  for (i64 k = 0; k < rank && whole.size() == some.size(); ++k)
    if (some[k] != whole[k]) open.push_back(k);
  const bool fits = whole.size() == some.size() && c.shape(starts) == Shape{rank} &&
                    (open.empty() || some[open[0]] <= whole[open[0]]);
  c.require(fits && open.size() <= 1, "puts a part at a computed position of more than one axis",
            to_text(some), to_text(whole), "tflite.update.axes");
  if (!c.ok()) return;
  if (open.empty()) return c.result(y);
  const i64 axis = open[0], count = some[axis];
  const Type one{DType::s64, {1}, {}};
  const auto number = [&](const char* name, i64 v) {
    return c.constant(name, one, constant_of(std::vector<i64>{v}));
  };
  ValueId at = converted(c, part(c, starts, 0, axis, 1, 1, "start"), DType::s64, "position");
  at = call_broadcast(c, {"aten::maximum", "out"}, {at, number("least", 0)}, DType::s64, "from");
  at = call_broadcast(c, {"aten::minimum", "out"}, {at, number("most", whole[axis] - count)},
                      DType::s64, "clamped");
  if (count > 1 && can_pick(c, count)) {
    std::vector<i64> steps(static_cast<size_t>(count));
    std::iota(steps.begin(), steps.end(), 0);
    const ValueId behind =
        c.constant("behind", {DType::s64, {count}, {}}, constant_of(std::move(steps)));
    at = call_broadcast(c, {"aten::add", "out"}, {at, behind}, DType::s64, "positions",
                        {integer_argument(1)});
  }
  if (!c.ok()) return;
  c.result(written_at(c, x, at, y, axis, false));
}

// The update grows, axis by axis from the last one, by what lies before and behind it in the
// operand. A start that leaves too few elements is moved back, as in TFLite.
static void import_dynamic_update_slice(Call& c) {
  c.takes(3, 3);
  const ValueId x = c.in(0);
  ValueId y = c.in(1);
  if (c.ok() && !c.is_constant(2)) return finish_computed_update(c, x, y);
  Axes start = c.integers(2);
  if (!c.ok()) return;
  const Shape whole = c.shape(x), some = c.shape(y);
  bool fits = whole.size() == some.size() && start.size() == whole.size();
  for (size_t k = 0; fits && k < whole.size(); ++k) fits = some[k] <= whole[k];
  c.require(fits, "puts a part into a tensor that does not hold it",
            fmt::format("{} at {}", to_text(some), to_text(start)), to_text(whole),
            "tflite.update.shape");
  if (!c.ok()) return;
  for (size_t k = 0; k < whole.size(); ++k)
    start[k] = std::clamp<i64>(start[k], 0, whole[k] - some[k]);
  for (size_t k = whole.size(); c.ok() && k-- > 0;) {
    if (some[k] == whole[k]) continue;
    ValueId around = x;
    for (size_t a = 0; a < k; ++a)
      around = part(c, around, static_cast<i64>(a), start[a], some[a], 1,
                    fmt::format("beside{}_{}", k, a));
    const i64 end = start[k] + some[k], axis = static_cast<i64>(k);
    std::vector<ValueId> pieces{y};
    if (start[k] > 0)
      pieces.insert(pieces.begin(),
                    part(c, around, axis, 0, start[k], 1, fmt::format("before{}", k)));
    if (end < whole[k])
      pieces.push_back(part(c, around, axis, end, whole[k] - end, 1, fmt::format("behind{}", k)));
    y = c.rounded(c.add(Concat{axis}, pieces, fmt::format("axis{}", k)),
                  fmt::format("axis{}_rounded", k));
  }
  c.result(y);
}

static constexpr ImportRow kPickingRows[] = {
    {BuiltinOperator::DYNAMIC_UPDATE_SLICE, import_dynamic_update_slice, Int16::taken},
    {BuiltinOperator::EMBEDDING_LOOKUP, import_embedding_lookup},
    {BuiltinOperator::GATHER, import_gather, Int16::taken},
    {BuiltinOperator::GATHER_ND, import_gather_nd, Int16::taken},
};
ImportRows picking_rows() { return kPickingRows; }

}  // namespace deuteron::tflite
