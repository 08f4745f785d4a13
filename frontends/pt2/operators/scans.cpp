// SPDX-License-Identifier: Apache-2.0
// Products and running results along an axis, in as many steps as the extent has bits: each element
// takes in the one that lies 1, 2, 4, .. before it.
#include <fmt/format.h>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/leftovers.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostMultiplied = 16;  // more have no common step worth having: they stay in float

using Joined = ValueId (*)(Call&, ValueId, ValueId, std::string_view);

ValueId multiplied(Call& c, ValueId a, ValueId b, std::string_view name) {
  return product(c, a, b, name);
}
ValueId larger(Call& c, ValueId a, ValueId b, std::string_view name) {
  return c.add(Maximum{}, {a, b}, name);
}
ValueId smaller(Call& c, ValueId a, ValueId b, std::string_view name) {
  return c.add(Minimum{}, {a, b}, name);
}

// log(exp(a) + exp(b)) = max(a, b) + softplus(-|a - b|)
ValueId log_of_sum(Call& c, ValueId a, ValueId b, std::string_view name) {
  const std::string n(name);
  const ValueId apart =
      apply(c, UnaryFn::neg, apply(c, UnaryFn::abs, difference(c, a, b, n + "_apart"), n + "_abs"),
            n + "_below");
  return sum(c, larger(c, a, b, n + "_larger"), apply(c, UnaryFn::softplus, apart, n + "_rest"),
             name);
}

ValueId slice_of(Call& c, ValueId x, i64 axis, i64 from, i64 to, std::string_view name) {
  return c.add(Slice{axis, from, to - from, 1}, {x}, name);
}

// A running result of all elements up to each.
void scan(Call& c, Joined joined) {
  ValueId y = c.tensor("self");
  const i64 rank = c.rank(y), axis = c.axis("dim", rank);
  if (!c.ok()) return;
  if (rank == 0) return c.result(y);
  const i64 count = c.shape(y)[axis];
  for (i64 step = 1; step < count && c.ok(); step *= 2) {
    const ValueId later = slice_of(c, y, axis, step, count, fmt::format("from_{}", step));
    const ValueId earlier = slice_of(c, y, axis, 0, count - step, fmt::format("before_{}", step));
    const ValueId taken = joined(c, later, earlier, fmt::format("step_{}", step));
    y = c.add(Concat{axis}, {slice_of(c, y, axis, 0, step, fmt::format("first_{}", step)), taken},
              fmt::format("scanned_{}", step));
  }
  c.result(y);
}

// The product of all elements of an axis, by halves: [.., 1, ..]
ValueId product_of_axis(Call& c, ValueId x, i64 axis) {
  while (c.ok() && c.shape(x)[axis] > 1) {
    const i64 count = c.shape(x)[axis], half = count / 2;
    const ValueId first = slice_of(c, x, axis, 0, half, fmt::format("first_{}", half));
    const ValueId second = slice_of(c, x, axis, half, 2 * half, fmt::format("second_{}", half));
    const ValueId joined = product(c, first, second, fmt::format("products_{}", half));
    if (count % 2 == 0) x = joined;
    else
      x = c.add(Concat{axis},
                {joined, slice_of(c, x, axis, 2 * half, count, fmt::format("last_{}", half))},
                fmt::format("rest_{}", half));
  }
  return x;
}

// cummax, cummin: where nobody reads the positions.
void scan_extreme(Call& c, Joined joined) {
  c.require(!c.is_read(1), "the positions of running extremes are read", "", "",
            "pt2.scan.positions");
  if (c.ok()) scan(c, joined);
}

}  // namespace

static void import_cumprod(Call& c) { scan(c, multiplied); }
static void import_logcumsumexp(Call& c) { scan(c, log_of_sum); }
static void import_cummax(Call& c) { scan_extreme(c, larger); }
static void import_cummin(Call& c) { scan_extreme(c, smaller); }

// prod.dim_int, and prod.default over all elements
static void import_prod(Call& c) {
  const bool along = c.operator_name() == "prod" && c.target() == "aten.prod.dim_int";
  ValueId x = c.tensor("self");
  if (!c.ok()) return;
  if (c.rank(x) == 0) return c.result(x);
  if (!along) x = c.reshape(x, {c.type(x).elements()}, "row");
  const i64 axis = along ? c.axis("dim", c.rank(x)) : 0;
  if (!c.ok()) return;
  if (along && c.shape(x)[axis] > kMostMultiplied) return import_leftover(c);
  c.require(c.shape(x)[axis] <= kMostMultiplied, "multiplies too many elements",
            std::to_string(c.shape(x)[axis]), std::to_string(kMostMultiplied), "pt2.prod.count");
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  const ValueId y = product_of_axis(c, x, axis);
  shape.erase(shape.begin() + axis);
  if (along && c.boolean("keepdim")) return c.result(y);
  if (c.ok()) c.result(c.reshape(y, std::move(shape)));
}

// A row a line, as make_schemas.py reads them.
// clang-format off
static constexpr ImportRow kScansRows[] = {
    {"aten.cummax.default", import_cummax},
    {"aten.cummin.default", import_cummin},
    {"aten.cumprod.default", import_cumprod, true},
    {"aten.logcumsumexp.default", import_logcumsumexp},
    {"aten.prod.default", import_prod},
    {"aten.prod.dim_int", import_prod},
};
// clang-format on
ImportRows scans_rows() { return kScansRows; }

}  // namespace deuteron::pt2
