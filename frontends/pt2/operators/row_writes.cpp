// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/row_writes.h"
#include "base/tensor/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/matrix_product.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostMatrix = i64{1} << 20;  // elements of a matrix that adds rows up
constexpr i64 kFewWrites = 2;              // to one row: gathers cost less than the matrix

i64 rows_of(Call& c, ValueId x) { return c.shape(x)[0]; }

// writes[r]: the rows of the source that go to row r, in their order.
std::vector<Axes> writes_by_row(i64 rows, const Axes& to) {
  std::vector<Axes> writes(static_cast<size_t>(rows));
  for (size_t k = 0; k < to.size(); ++k) writes[to[k]].push_back(static_cast<i64>(k));
  return writes;
}

i64 most_writes(const std::vector<Axes>& writes) {
  size_t most = 0;
  for (const Axes& w : writes) most = std::max(most, w.size());
  return static_cast<i64>(most);
}

bool is_all_zero(Call& c, ValueId x) {
  const auto known = c.known_numbers(x);
  return known && std::all_of(known->begin(), known->end(), [](float v) { return v == 0; });
}

// The sums of the rows of `source` that go to each row.
ValueId sums_of_rows(Call& c, i64 rows, ValueId source, const Axes& to) {
  if (!c.ok()) return -1;
  const std::vector<Axes> writes = writes_by_row(rows, to);
  const i64 n = rows_of(c, source), most = most_writes(writes);
  if (most > kFewWrites && rows * n <= kMostMatrix) {
    std::vector<float> ones(static_cast<size_t>(rows * n), 0.0f);
    for (size_t k = 0; k < to.size(); ++k) ones[static_cast<size_t>(to[k] * n) + k] = 1;
    return matrix_product(c, c.constant("ones", {rows, n}, std::move(ones)), source, 1, "sums");
  }
  Pad zero;
  zero.before = {0, 0}, zero.after = {1, 0};
  const ValueId padded = c.add(std::move(zero), {source}, "padded");
  ValueId total = -1;
  for (i64 slot = 0; slot < most && c.ok(); ++slot) {
    Axes index;
    for (const Axes& w : writes) index.push_back(slot < static_cast<i64>(w.size()) ? w[slot] : n);
    const ValueId part = picked(c, padded, 0, std::move(index), "part" + std::to_string(slot));
    total = total < 0 ? part : sum(c, total, part, "sums");
  }
  return total;
}

}  // namespace

ValueId overwritten(Call& c, ValueId x, ValueId source, const Axes& to) {
  if (!c.ok()) return -1;
  const i64 rows = rows_of(c, x);
  Axes index(static_cast<size_t>(rows));
  std::iota(index.begin(), index.end(), 0);
  for (size_t k = 0; k < to.size(); ++k) index[to[k]] = rows + static_cast<i64>(k);
  const bool all = std::all_of(index.begin(), index.end(), [rows](i64 at) { return at >= rows; });
  if (all)
    for (i64& at : index) at -= rows;
  return picked(c, all ? source : c.add(Concat{0}, {x, source}, "both"), 0, std::move(index),
                "written");
}

ValueId accumulated(Call& c, ValueId x, ValueId source, const Axes& to) {
  if (!c.ok()) return -1;
  const ValueId sums = sums_of_rows(c, rows_of(c, x), source, to);
  return !c.ok() || is_all_zero(c, x) ? sums : sum(c, x, sums, "accumulated");
}

ValueId extreme_of_rows(Call& c, ValueId x, ValueId source, const Axes& to, bool largest,
                        bool with_self) {
  if (!c.ok()) return -1;
  const i64 rows = rows_of(c, x);
  const std::vector<Axes> writes = writes_by_row(rows, to);
  const ValueId both = c.add(Concat{0}, {x, source}, "both");
  const auto slot = [&](i64 at, std::string_view name) {
    Axes index;
    for (i64 r = 0; r < rows; ++r) {
      const Axes& w = writes[r];
      const i64 own = with_self || w.empty() ? r : rows + w[0];
      index.push_back(at < static_cast<i64>(w.size()) ? rows + w[at] : own);
    }
    return picked(c, both, 0, std::move(index), name);
  };
  ValueId y = with_self ? x : slot(0, "first");
  for (i64 at = with_self ? 0 : 1; at < most_writes(writes) && c.ok(); ++at) {
    const ValueId next = slot(at, "next" + std::to_string(at));
    y = largest ? c.add(Maximum{}, {y, next}, "extreme") : c.add(Minimum{}, {y, next}, "extreme");
  }
  return y;
}

ValueId mean_of_rows(Call& c, ValueId x, ValueId source, const Axes& to, bool with_self) {
  if (!c.ok()) return -1;
  const i64 rows = rows_of(c, x);
  std::vector<float> share, kept;
  for (const Axes& w : writes_by_row(rows, to)) {
    const i64 count = static_cast<i64>(w.size()) + (with_self || w.empty() ? 1 : 0);
    share.push_back(1.0f / static_cast<float>(count));
    kept.push_back(with_self || w.empty() ? share.back() : 0.0f);
  }
  const ValueId sums = sums_of_rows(c, rows, source, to);
  const ValueId mean = product(c, sums, c.constant("share", {rows, 1}, std::move(share)), "mean");
  if (!c.ok() || is_all_zero(c, x)) return mean;
  return sum(c, mean, product(c, x, c.constant("kept", {rows, 1}, std::move(kept)), "own"),
             "means");
}

Rows rows_along(Call& c, ValueId x, i64 axis, std::string_view suffix) {
  Rows r;
  if (!c.ok()) return r;
  for (i64 k = 0; k < c.rank(x); ++k)
    if (k != axis) r.perm.push_back(k);
  r.perm.insert(r.perm.begin(), axis);
  const ValueId moved = c.permute(x, r.perm, suffix);
  if (!c.ok()) return r;
  r.shape = c.shape(moved);
  r.value = c.reshape(moved, {r.shape[0], numel(r.shape) / r.shape[0]}, suffix);
  return r;
}
ValueId from_rows(Call& c, const Rows& r, ValueId y) {
  return c.ok() ? c.permute(c.reshape(y, r.shape, "rows"), inverse(r.perm)) : -1;
}

i64 position_of(Call& c, float number, i64 extent) {
  const bool fits = number >= -static_cast<float>(extent) && number < static_cast<float>(extent);
  c.require(fits, "an index lies outside the axis", fmt::format("{:.0f}", number),
            fmt::format("{}..{}", -extent, extent - 1), "pt2.index.range");
  const i64 p = fits ? static_cast<i64>(number) : 0;
  return p < 0 ? p + extent : p;
}

Axes positions_of(Call& c, const std::vector<float>& numbers, i64 extent) {
  Axes positions;
  for (const float number : numbers) positions.push_back(position_of(c, number, extent));
  return positions;
}

std::optional<Axes> known_positions(Call& c, std::string_view argument, i64 extent) {
  const ValueId v = c.any_tensor(argument);
  const auto numbers = c.known_numbers(v);
  c.require(!c.ok() || numbers.has_value(),
            "works at positions that are computed: only constant positions are supported", "", "",
            "pt2.index.constant");
  c.require(!c.ok() || !numbers->empty(), "has no positions", "0", "1", "pt2.index.empty");
  if (!c.ok()) return std::nullopt;
  Axes positions = positions_of(c, *numbers, extent);
  return c.ok() ? std::optional(std::move(positions)) : std::nullopt;
}

}  // namespace deuteron::pt2
