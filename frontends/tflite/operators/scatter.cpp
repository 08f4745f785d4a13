// SPDX-License-Identifier: Apache-2.0
// STABLEHLO_SCATTER: some elements are replaced, or joined by others. At computed positions whole
// rows are replaced, or added to.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"

namespace deuteron::tflite {
namespace {

// Of StablehloScatterOptions.
struct ScatterAxes {
  std::vector<i64> update_window, inserted, to_operand;
  i64 index_vector = 0;
};

bool names_axis(const std::vector<i64>& list, i64 v) {
  return std::ranges::find(list, v) != list.end();
}

// Ascending, each once, of an axis of that rank.
void require_axes(Call& c, const std::vector<i64>& axes, i64 rank) {
  for (const i64 axis : axes)
    c.require(axis >= 0 && axis < rank && std::ranges::count(axes, axis) == 1,
              "names an axis that its operand does not have, or one twice", to_text(axes),
              fmt::format("0..{}", rank - 1), "tflite.operator.axis");
}

// Element by element of the updates, where in the operand it goes, counted in order; -1: nowhere.
std::vector<i64> targets_of(Call& c, const ScatterAxes& a, const Shape& x, const Shape& positions,
                            const Shape& updates) {
  const std::vector<i64> index = c.integers(1);
  const auto rank = [](const Shape& s) { return static_cast<i64>(s.size()); };
  require_axes(c, a.update_window, rank(updates));
  require_axes(c, a.inserted, rank(x));
  require_axes(c, a.to_operand, rank(x));
  std::vector<i64> window_axes, scatter_axes;
  for (i64 k = 0; k < rank(x); ++k)
    if (!names_axis(a.inserted, k)) window_axes.push_back(k);
  for (i64 k = 0; k < rank(updates); ++k)
    if (!names_axis(a.update_window, k)) scatter_axes.push_back(k);
  Shape vectors = positions;  // one for each vector of positions
  const bool is_axis = a.index_vector >= 0 && a.index_vector < rank(positions);
  const i64 length = is_axis ? positions[a.index_vector] : 1;
  if (is_axis) vectors.erase(vectors.begin() + a.index_vector);
  c.require((is_axis || a.index_vector == rank(positions)) &&
                length == static_cast<i64>(a.to_operand.size()) &&
                vectors.size() == scatter_axes.size() &&
                window_axes.size() == a.update_window.size(),
            "has positions and updates that do not fit each other",
            fmt::format("{}, {}", to_text(positions), to_text(updates)), to_text(x),
            "tflite.scatter.axes");
  for (size_t k = 0; c.ok() && k < scatter_axes.size(); ++k)
    c.require(vectors[k] == updates[scatter_axes[k]],
              "has positions and updates that do not fit each other",
              fmt::format("{}, {}", to_text(positions), to_text(updates)), to_text(x),
              "tflite.scatter.axes");
  if (!c.ok() || !can_pick(c, numel(updates))) return {};
  const i64 step = is_axis ? numel(std::span(positions).subspan(a.index_vector + 1))
                           : 1;  // between the entries of a vector
  std::vector<i64> targets;
  Axes at(updates.size(), 0);
  for (i64 u = 0; u < numel(updates); ++u) {
    i64 vector = 0;
    for (size_t k = 0; k < scatter_axes.size(); ++k)
      vector = vector * vectors[k] + at[scatter_axes[k]];
    const i64 first = vector / step * step * length + vector % step;
    Shape to(x.size(), 0);
    for (size_t k = 0; k < a.to_operand.size(); ++k)
      to[a.to_operand[k]] = index[static_cast<size_t>(first + static_cast<i64>(k) * step)];
    for (size_t k = 0; k < window_axes.size(); ++k) to[window_axes[k]] += at[a.update_window[k]];
    i64 target = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const bool inside = to[k] >= 0 && to[k] < x[k];
      target = inside && target >= 0 ? target * x[k] + to[k] : -1;
    }
    targets.push_back(target);
    for (size_t k = updates.size(); k-- > 0 && ++at[k] == updates[k];) at[k] = 0;
  }
  return targets;
}

// Row 0 has the operand's elements, row k the k-th update of each; `none` where there are fewer.
// The last of several replaces.
Axes rows_of(Call& c, const std::vector<i64>& targets, i64 elements, bool replaces, bool adds) {
  std::vector<i64> count(static_cast<size_t>(elements));
  i64 rows = 1;
  for (const i64 t : targets)
    if (t >= 0) rows = std::max(rows, ++count[static_cast<size_t>(t)] + 1);
  if (replaces) rows = 1;
  if (!can_pick(c, std::min<i64>(rows * elements, kMostElements))) return {};
  Axes index;
  const i64 zero = elements + static_cast<i64>(targets.size());
  for (i64 r = 0; r < rows; ++r)
    for (i64 k = 0; k < elements; ++k) index.push_back(r > 0 && adds ? zero : k);
  std::ranges::fill(count, 0);
  for (size_t u = 0; u < targets.size(); ++u) {
    if (targets[u] < 0) continue;
    const i64 row = replaces ? 0 : ++count[static_cast<size_t>(targets[u])];
    index[static_cast<size_t>(row * elements + targets[u])] = elements + static_cast<i64>(u);
  }
  return index;
}

// Positions [.., n] of the first n axes, of updates [.., the other axes].
void finish_computed_scatter(Call& c, const ScatterAxes& a, ValueId x, ValueId updates, bool adds) {
  const ValueId positions = c.in(1);
  if (!c.ok()) return;
  const Shape s = c.shape(x), at = c.shape(positions);
  const auto named = static_cast<std::ptrdiff_t>(a.to_operand.size()), rank = std::ssize(s);
  std::vector<i64> first(static_cast<size_t>(named)),
      window(s.size() - std::min(s.size(), first.size()));
  Shape wanted(at.begin(), at.end() - !at.empty());
  std::iota(first.begin(), first.end(), 0);
  std::iota(window.begin(), window.end(), std::ssize(wanted));
  wanted.insert(wanted.end(), s.begin() + std::min(named, rank), s.end());
  c.require(named >= 1 && named <= rank && a.index_vector == std::ssize(at) - 1 &&
                at.back() == named && a.to_operand == first && a.inserted == first &&
                a.update_window == window && c.shape(updates) == wanted,
            "has computed positions of other than rows of its first axes", to_text(at), to_text(s),
            "tflite.scatter.computed");
  if (!c.ok()) return;
  const i64 rows = numel(std::span(s).first(static_cast<size_t>(named))), inner = numel(s) / rows,
            count = numel(at) / named;
  const ValueId to = c.reshape(row_numbers(c, positions, s), {count}, "rows_written"),
                table = c.reshape(x, {rows, inner}, "rows"),
                written = c.reshape(updates, {count, inner}, "updates");
  c.result(c.reshape(written_at(c, table, to, written, 0, adds), s));
}

}  // namespace

static void import_scatter(Call& c) {
  using B = BuiltinOperator;
  const auto* o = c.options<StablehloScatterOptions>();
  c.takes(3, 3);
  if (!c.ok()) return;
  const std::optional<B> body = c.body_of(o->update_computation_subgraph_index());
  const bool replaces = !body, adds = body == B::ADD || body == B::STABLEHLO_ADD;
  const bool largest = body == B::MAXIMUM || body == B::STABLEHLO_MAXIMUM,
             least = body == B::MINIMUM || body == B::STABLEHLO_MINIMUM;
  c.require(replaces || adds || largest || least, "joins elements by another function",
            body ? name_of_builtin(static_cast<i32>(*body)) : "",
            "a replacement, ADD, MAXIMUM, MINIMUM", "tflite.scatter.function");
  const ValueId x = replaces ? c.in(0) : c.real(0), updates = replaces ? c.in(2) : c.real(2);
  if (!c.ok()) return;
  const ScatterAxes axes{longs_of(o->update_window_dims()), longs_of(o->inserted_window_dims()),
                         longs_of(o->scatter_dims_to_operand_dims()), o->index_vector_dim()};
  if (!c.is_constant(1) && (replaces || adds))
    return finish_computed_scatter(c, axes, x, updates, adds);
  const Shape s = c.shape(x);
  const i64 elements = numel(s), count = c.type(updates).elements();
  if (!can_pick(c, elements)) return;
  const std::vector<i64> targets = targets_of(c, axes, s, c.declared(1).shape, c.shape(updates));
  if (!c.ok()) return;
  Axes index = rows_of(c, targets, elements, replaces, adds);
  if (!c.ok()) return;
  const i64 rows = static_cast<i64>(index.size()) / elements;
  std::vector<ValueId> parts{c.reshape(x, {elements}, "all"),
                             c.reshape(updates, {count}, "updates")};
  if (adds)
    parts.push_back(c.constant("zero", {DType::f32, {1}, {}}, constant_of(std::vector<float>{0})));
  ValueId y = picked(c, c.add(Concat{0}, std::move(parts), "both"), 0, std::move(index), "picked");
  const i64 fn = adds ? Reduce::kSum : largest ? Reduce::kMax : Reduce::kMin;
  if (rows > 1) y = c.add(Reduce{fn, {0}}, {c.reshape(y, {rows, elements}, "rows")}, "joined");
  c.result(c.reshape(y, s));
}

static constexpr ImportRow kScatterRows[] = {
    {BuiltinOperator::STABLEHLO_SCATTER, import_scatter},
};
ImportRows scatter_rows() { return kScatterRows; }

}  // namespace deuteron::tflite
