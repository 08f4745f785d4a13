// SPDX-License-Identifier: Apache-2.0
// Integrals by trapezoids and derivatives by differences along an axis: weighted sums of its
// elements.
#include <fmt/format.h>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostWeights = i64{1} << 22;

// The distances between neighbours along the axis: dx, or those of the known positions `x`. Empty:
// refused.
std::vector<double> distances(Call& c, i64 extent) {
  if (!c.has("x") || !c.is_tensor("x"))
    return std::vector<double>(static_cast<size_t>(std::max<i64>(extent - 1, 0)), c.number("dx"));
  const ValueId at = c.tensor("x");
  const auto known = c.known_numbers(at);
  c.require(!c.ok() || (known && c.rank(at) == 1 && c.shape(at)[0] == extent),
            "is of positions that are computed, or no row of the axis",
            c.ok() ? to_text(c.shape(at)) : "", fmt::format("[{}], constant", extent),
            "pt2.trapezoid.positions");
  std::vector<double> apart;
  for (i64 k = 0; c.ok() && k + 1 < extent; ++k)
    apart.push_back(static_cast<double>((*known)[k + 1]) - (*known)[k]);
  return apart;
}

bool fits(Call& c, i64 rows, i64 columns) {
  c.require(!c.ok() || rows * columns <= kMostWeights, "is a sum over too long an axis",
            std::to_string(rows * columns), std::to_string(kMostWeights), "pt2.trapezoid.extent");
  return c.ok();
}

}  // namespace

// Half of each trapezoid to either side. Cumulative: up to each element but the first.
static void import_trapezoid(Call& c) {
  const ValueId y = c.tensor("y");
  const i64 axis = c.axis("dim", c.rank(y));
  require_axes(c, y);
  if (!c.ok()) return;
  const i64 extent = c.shape(y)[axis];
  const bool cumulative = c.operator_name() == "cumulative_trapezoid";
  c.require(extent >= 2, "is a sum over a single element", std::to_string(extent), "2",
            "pt2.trapezoid.extent");
  const std::vector<double> apart = distances(c, extent);
  const i64 rows = cumulative ? extent - 1 : 1;
  if (!fits(c, rows, extent)) return;
  Weights w(rows, extent);
  for (i64 k = 0; k + 1 < extent; ++k)
    for (i64 r = cumulative ? k : 0; r < rows; ++r)
      for (const i64 side : {k, k + 1}) w.at(r, side) += static_cast<float>(apart[k] / 2);
  const ValueId sums = weighted_along(c, y, axis, w, cumulative ? "" : "sum");
  if (!c.ok() || cumulative) return c.result(sums);
  Shape shape = c.shape(y);
  shape.erase(shape.begin() + axis);
  c.result(c.reshape(sums, std::move(shape)));
}

// Differences of the neighbours on both sides; at the ends of the one that is there. One result for
// each axis.
static void import_gradient(Call& c) {
  const ValueId x = c.tensor("self");
  const double spacing = number_or(c, "spacing", 1);
  const i64 order = c.integer("edge_order");
  c.require(!c.ok() || order == 1, "is of another order at the edges", std::to_string(order), "1",
            "pt2.gradient.order");
  c.require(!c.ok() || spacing != 0, "has elements that are not apart", "0", "any other number",
            "pt2.gradient.spacing");
  require_axes(c, x);
  if (!c.ok()) return;
  const bool one = c.has("dim");
  const i64 first = one ? c.axis("dim", c.rank(x)) : 0;
  for (size_t k = 0; k < c.result_count() && c.ok(); ++k) {
    const i64 axis = first + static_cast<i64>(k);
    if (axis >= c.rank(x))
      return c.refuse({"has more results than axes", "", "", "pt2.gradient.results"});
    const i64 extent = c.shape(x)[axis];
    c.require(extent >= 2, "is of a single element", std::to_string(extent), "2",
              "pt2.gradient.extent");
    if (!fits(c, extent, extent)) return;
    Weights w(extent, extent);
    for (i64 at = 0; at < extent; ++at) {
      const i64 before = std::max<i64>(at - 1, 0), after = std::min(at + 1, extent - 1);
      const float factor = static_cast<float>(1 / (spacing * static_cast<double>(after - before)));
      w.at(at, after) += factor, w.at(at, before) -= factor;
    }
    c.result(k, weighted_along(c, x, axis, w, k == 0 ? "" : std::to_string(k)));
  }
}

static constexpr ImportRow kIntegralsRows[] = {
    {"aten.cumulative_trapezoid.dx", import_trapezoid},
    {"aten.cumulative_trapezoid.x", import_trapezoid},
    {"aten.gradient.scalarint", import_gradient},
    {"aten.trapezoid.dx", import_trapezoid},
    {"aten.trapezoid.x", import_trapezoid},
    {"aten.trapz.dx", import_trapezoid},
    {"aten.trapz.x", import_trapezoid},
};
ImportRows integrals_rows() { return kIntegralsRows; }

}  // namespace deuteron::pt2
