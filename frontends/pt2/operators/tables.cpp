// SPDX-License-Identifier: Apache-2.0
// Tables that are made of the elements of a tensor: powers, all pairs, a histogram.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "frontends/pt2/operators/leftovers.h"
#include "frontends/pt2/operators/reductions.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {

// Exponents that are known: one for all elements, or one for each slice along an axis, which then
// has a table of its own. Others stay a call.
static void import_power(Call& c) {
  constexpr size_t kMostRuns = 64;
  const ValueId x = c.any_tensor("self"), given = c.any_tensor("exponent");
  const auto exponents = c.ok() ? c.known_numbers(given) : std::nullopt;
  if (!c.ok()) return;
  const auto full = broadcast_shape(c.shape(x), c.shape(given));
  const i64 varying = std::count_if(c.shape(given).begin(), c.shape(given).end(),
                                    [](i64 extent) { return extent > 1; });
  std::vector<size_t> starts;  // of equal exponents
  for (size_t k = 0; exponents && k < exponents->size(); ++k)
    if (k == 0 || (*exponents)[k] != (*exponents)[k - 1]) starts.push_back(k);
  const bool is_one = starts.size() == 1;
  if (!full || c.type(x).dtype != DType::f32 || c.is_derived_from_constants(x) || starts.empty() ||
      starts.size() > kMostRuns || (varying > 1 && !is_one) ||
      !std::all_of(exponents->begin(), exponents->end(), [](float v) { return std::isfinite(v); }))
    return import_leftover(c);
  const ValueId wide = expanded(c, x, *full, "repeated");
  if (is_one) return c.result(apply(c, UnaryFn::pow, wide, "", exponents->front()));
  i64 axis = static_cast<i64>(full->size()) - 1;
  for (size_t k = c.shape(given).size(); c.shape(given)[k - 1] == 1; --k) --axis;
  std::vector<ValueId> parts;
  for (size_t k = 0; k < starts.size() && c.ok(); ++k) {
    const size_t end = k + 1 < starts.size() ? starts[k + 1] : exponents->size();
    const ValueId part =
        c.add(Slice{axis, static_cast<i64>(starts[k]), static_cast<i64>(end - starts[k]), 1},
              {wide}, fmt::format("part{}", k));
    parts.push_back(
        apply(c, UnaryFn::pow, part, fmt::format("power{}", k), (*exponents)[starts[k]]));
  }
  if (c.ok()) c.result(c.add(Concat{axis}, parts));
}

// x to the power of N-1, .., 1, 0 as columns, or the other way round.
static void import_vander(Call& c) {
  constexpr i64 kMostPowers = 64;
  const ValueId x = c.tensor("x");
  const bool from_zero = c.has("increasing") && c.boolean("increasing");
  c.require(!c.ok() || c.rank(x) == 1, "makes powers of a row", c.ok() ? to_text(c.shape(x)) : "",
            "one axis", "pt2.vander.rank");
  const i64 count = c.has("N") ? c.integer("N") : c.type(x).elements();
  c.require(!c.ok() || (count >= 1 && count <= kMostPowers), "makes too many powers, or none",
            std::to_string(count), fmt::format("1..{}", kMostPowers), "pt2.vander.count");
  if (!c.ok()) return;
  const i64 rows = c.type(x).elements();
  const ValueId column = c.reshape(x, {rows, 1}, "column");
  std::vector<ValueId> powers;
  for (i64 k = 0; k < count && c.ok(); ++k) {
    const i64 exponent = from_zero ? k : count - 1 - k;
    if (exponent == 0)
      powers.push_back(
          c.constant("ones", {rows, 1}, std::vector<float>(static_cast<size_t>(rows), 1.0f)));
    else if (exponent == 1) powers.push_back(column);
    else
      powers.push_back(apply(c, UnaryFn::pow, column, fmt::format("power{}", exponent),
                             static_cast<float>(exponent)));
  }
  if (c.ok()) c.result(powers.size() == 1 ? powers[0] : c.add(Concat{1}, powers));
}

// Each element of a row with each of the others, the last one fastest.
static void import_cartesian_product(Call& c) {
  constexpr size_t kMostRows = 6;
  const std::vector<ValueId> given = c.tensors("tensors");
  c.require(!c.ok() || (!given.empty() && given.size() <= kMostRows),
            "joins too many rows, or none", std::to_string(given.size()),
            fmt::format("1..{}", kMostRows), "pt2.cartesian_prod.count");
  if (!c.ok()) return;
  if (given.size() == 1) return c.result(given[0]);
  Shape full;
  i64 elements = 1;
  for (const ValueId v : given) {
    c.require(c.rank(v) == 1 && c.type(v).elements() > 0, "joins rows", to_text(c.shape(v)),
              "one axis", "pt2.cartesian_prod.rank");
    if (!c.ok()) return;
    full.push_back(c.shape(v)[0]);
    elements *= full.back();
    c.require(elements <= kMostPicked, "makes too many rows", std::to_string(elements),
              std::to_string(kMostPicked), "pt2.index.count");
    if (!c.ok()) return;
  }
  std::vector<ValueId> columns;
  for (size_t k = 0; k < given.size() && c.ok(); ++k) {
    const std::string name = "column" + std::to_string(k);
    Shape along(full.size(), 1);
    along[k] = full[k];
    columns.push_back(
        c.reshape(expanded(c, c.reshape(given[k], along, name), full, name), {elements, 1}, name));
  }
  if (c.ok()) c.result(c.add(Concat{1}, columns));
}

// How many elements lie in each of as many equal steps from `min` to `max`, which is in the last
// one: how many are at or above each border, less those at or above the next.
static void import_histogram(Call& c) {
  constexpr i64 kMostBins = 4096;
  const ValueId x = c.tensor("self");
  const i64 bins = c.integer("bins");
  const double low = c.number("min"), high = c.number("max");
  c.require(!c.ok() || (bins >= 1 && bins <= kMostBins), "has too many bins, or none",
            std::to_string(bins), fmt::format("1..{}", kMostBins), "pt2.histc.bins");
  c.require(!c.ok() || (low < high && std::isfinite(low) && std::isfinite(high)),
            "has no bounds of its own: those of its elements are not known",
            fmt::format("{}..{}", low, high), "min < max", "pt2.histc.bounds");
  if (!c.ok()) return;
  const i64 count = c.type(x).elements();
  c.require(count <= kMostPicked / (bins + 1), "compares too many elements", std::to_string(count),
            std::to_string(kMostPicked / (bins + 1)), "pt2.index.count");
  if (!c.ok()) return;
  std::vector<float> borders;
  for (i64 k = 0; k < bins; ++k)
    borders.push_back(static_cast<float>(low + (high - low) * static_cast<double>(k) /
                                                   static_cast<double>(bins)));
  borders.push_back(std::nextafter(static_cast<float>(high), kInfinity));
  const ValueId table = kernel_result(
      c, "aten::ge.Tensor_out",
      {c.reshape(x, {count, 1}, "column"), c.constant("borders", {1, bins + 1}, borders)},
      {DType::b8, {count, bins + 1}, {}});
  const ValueId above = c.reshape(
      reduced(c, Reduce::kSum, c.converted(table, DType::f32), {0}, "above"), {bins + 1}, "counts");
  c.result(difference(c, c.add(Slice{0, 0, bins, 1}, {above}, "from"),
                      c.add(Slice{0, 1, bins, 1}, {above}, "to")));
}

static constexpr ImportRow kTablesRows[] = {
    {"aten.cartesian_prod.default", import_cartesian_product},
    {"aten.histc.default", import_histogram},

    {"aten.pow.Tensor_Tensor", import_power},
    {"aten.vander.default", import_vander},
};
ImportRows tables_rows() { return kTablesRows; }

}  // namespace deuteron::pt2
