// SPDX-License-Identifier: Apache-2.0
// Operators that put the elements along an axis in order: sorting is the kernel of topk with all of
// them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

struct Ordered {
  ValueId values = -1, positions = -1;
};

// topk.values(x, k, dim, largest, sorted, values, positions): of equal elements the first one comes
// first, as in a stable sort.
Ordered in_order(Call& c, ValueId x, i64 axis, i64 count, bool largest) {
  if (!c.ok()) return {};
  using K = KernelArg::Kind;
  Shape shape = c.shape(x);
  if (!shape.empty()) shape[axis] = count;
  KernelCall call;
  call.name = "aten::topk", call.overload = "values";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               {K::integer, count, 0, {}, {}},
               {K::integer, axis, 0, {}, {}},
               {K::boolean, largest, 0, {}, {}},
               {K::boolean, 1, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(shape)},
               {K::output, 1, 0, {}, plain_face(shape)}};
  const std::vector<ValueId> results =
      c.add_call(std::move(call), {x}, {{c.type(x).dtype, shape, {}}, {DType::s64, shape, {}}});
  return c.ok() ? Ordered{results[0], results[1]} : Ordered{};
}

i64 extent_of(Call& c, ValueId x, i64 axis) { return c.rank(x) == 0 ? 1 : c.shape(x)[axis]; }

// Element k of those in order, with and without the axis.
void finish_at(Call& c, ValueId x, i64 axis, i64 k, bool keeps_axis) {
  const Ordered all = in_order(c, x, axis, k + 1, false);
  const std::array<ValueId, 2> results{all.values, all.positions};
  for (size_t i = 0; i < c.result_count() && c.ok(); ++i) {
    const std::string suffix = i == 0 ? "" : "position";
    if (c.rank(x) == 0) {
      c.result(i, results[i]);
      continue;
    }
    Shape shape = c.shape(x);
    if (keeps_axis) shape[axis] = 1;
    else shape.erase(shape.begin() + axis);
    const ValueId one =
        k == 0 ? results[i]
               : c.add(Slice{axis, k, 1, 1}, {results[i]}, i == 0 ? "last" : "last_position");
    c.result(i, c.reshape(one, std::move(shape), suffix));
  }
}

}  // namespace

// sort, argsort, msort
static void import_sort(Call& c) {
  const ValueId x = movable(c, "self");
  const i64 axis = c.operator_name() == "msort" ? 0 : c.axis("dim", c.rank(x));
  const bool descending = c.operator_name() != "msort" && c.boolean("descending");
  if (!c.ok()) return;
  const Ordered all = in_order(c, x, axis, extent_of(c, x, axis), descending);
  if (!c.ok()) return;
  if (c.operator_name() == "argsort") return c.result(all.positions);
  c.result(all.values);
  if (c.result_count() > 1) c.result(1, all.positions);
}

static void import_kthvalue(Call& c) {
  const ValueId x = movable(c, "self");
  const i64 axis = c.axis("dim", c.rank(x)), k = c.integer("k");
  c.require(!c.ok() || (k >= 1 && k <= extent_of(c, x, axis)),
            "asks for an element that is not there", std::to_string(k),
            c.ok() ? std::to_string(extent_of(c, x, axis)) : "", "pt2.order.element");
  if (c.ok()) finish_at(c, x, axis, k - 1, c.boolean("keepdim"));
}

// The lower one of two in the middle.
static void import_median(Call& c) {
  ValueId x = movable(c, "self");
  if (!c.ok()) return;
  const bool flat = !c.has("dim");
  if (flat) x = c.reshape(x, {c.type(x).elements()}, "row");
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(x));
  if (c.ok()) finish_at(c, x, axis, (extent_of(c, x, axis) - 1) / 2, !flat && c.boolean("keepdim"));
}

// An element of those in order, or what lies between two.
static ValueId quantile_of(Call& c, const Ordered& all, i64 axis, double q,
                           const std::string& between_two) {
  const i64 count = c.shape(all.values)[axis];
  const double at = q * static_cast<double>(count - 1);
  const auto element = [&](double k, std::string_view name) {
    return c.add(Slice{axis, std::clamp<i64>(static_cast<i64>(k), 0, count - 1), 1, 1},
                 {all.values}, name);
  };
  if (between_two == "lower") return element(std::floor(at), "quantile");
  if (between_two == "higher") return element(std::ceil(at), "quantile");
  if (between_two == "nearest") return element(std::nearbyint(at), "quantile");
  const double share = between_two == "midpoint" ? 0.5 : at - std::floor(at);
  if (at == std::floor(at)) return element(at, "quantile");
  const ValueId low = element(std::floor(at), "low"), high = element(std::ceil(at), "high");
  return sum(c, low, product(c, difference(c, high, low, "apart"), number(c, share), "part"),
             "quantile");
}

// One quantile for each q, along an axis or of all elements; with a table of q in front.
static void import_quantile(Call& c) {
  constexpr size_t kMostQuantiles = 64;
  constexpr std::array<std::string_view, 5> kBetween = {"linear", "lower", "higher", "midpoint",
                                                        "nearest"};
  ValueId x = c.tensor("self");
  const ValueId table = c.is_tensor("q") ? c.parameter("q") : -1;
  const std::string between_two = c.text("interpolation");
  if (!c.ok()) return;
  std::vector<float> wanted;
  if (table >= 0) wanted = c.known_numbers(table).value_or(std::vector<float>{});
  const bool flat = !c.has("dim");
  if (flat) x = c.reshape(x, {c.type(x).elements()}, "row");
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(x));
  require_axes(c, x);
  const bool fits =
      table < 0 || (c.rank(table) <= 1 && !wanted.empty() && wanted.size() <= kMostQuantiles);
  c.require(fits, "asks for no quantile, or for too many", std::to_string(wanted.size()),
            fmt::format("1..{}", kMostQuantiles), "pt2.quantile.count");
  c.require(std::find(std::begin(kBetween), std::end(kBetween), between_two) != std::end(kBetween),
            "takes an unknown way between two elements", between_two,
            fmt::format("{}", fmt::join(kBetween, ", ")), "pt2.quantile.interpolation");
  if (!c.ok()) return;
  std::vector<double> all_q(wanted.begin(), wanted.end());
  if (table < 0) all_q = {c.number("q")};
  const Ordered all = in_order(c, x, axis, c.shape(x)[axis], false);
  std::vector<ValueId> parts;
  for (const double q : all_q) {
    c.require(q >= 0 && q <= 1, "is not a quantile", std::to_string(q), "0..1",
              "pt2.quantile.range");
    if (c.ok()) parts.push_back(quantile_of(c, all, axis, q, between_two));
  }
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  Shape front = c.shape(parts[0]);
  front.insert(front.begin(), 1);
  for (ValueId& part : parts) part = c.reshape(part, front, "quantile_row");
  c.result(c.reshape(parts.size() == 1 ? parts[0] : c.add(Concat{0}, parts, "quantiles"),
                     declared->sizes));
}

// A row a line, as make_schemas.py reads them.
// clang-format off
static constexpr ImportRow kOrderingRows[] = {
    {"aten.argsort.default", import_sort},
    {"aten.argsort.stable", import_sort},
    {"aten.kthvalue.default", import_kthvalue},
    {"aten.median.default", import_median},
    {"aten.median.dim", import_median},
    {"aten.msort.default", import_sort},
    {"aten.quantile.default", import_quantile},
    {"aten.quantile.scalar", import_quantile},
    {"aten.sort.default", import_sort},
    {"aten.sort.stable", import_sort},
};
// clang-format on
ImportRows ordering_rows() { return kOrderingRows; }

}  // namespace deuteron::pt2
