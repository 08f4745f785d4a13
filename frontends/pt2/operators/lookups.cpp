// SPDX-License-Identifier: Apache-2.0
// Looking up: in which interval a number lies, and bags of rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "frontends/pt2/operators/reductions.h"
#include "frontends/pt2/operators/weighted_sums.h"

namespace deuteron::pt2 {
namespace {

constexpr size_t kMostBounds = 1024;

// How many boundaries lie below x, with `right` also those at x.
void finish_intervals(Call& c, ValueId x, std::string_view boundaries, bool right) {
  const ValueId bounds = c.tensor(boundaries);
  const auto known = c.known_numbers(bounds);
  c.require(!c.ok() || (known && c.rank(bounds) == 1 && known->size() >= 1 &&
                        known->size() <= kMostBounds),
            "the boundaries are computed, or too many, or no vector",
            c.ok() ? to_text(c.shape(bounds)) : "", fmt::format("1..{}, constant", kMostBounds),
            "pt2.bucketize.boundaries");
  c.require(!c.ok() || std::is_sorted(known->begin(), known->end()),
            "the boundaries are not in order", "", "", "pt2.bucketize.boundaries");
  if (!c.ok()) return;
  Shape each = c.shape(x);
  const Shape shape = each;
  each.push_back(1);
  const ValueId wide = c.reshape(x, each, "each");
  each.back() = static_cast<i64>(known->size());
  const ValueId below = kernel_result(c, right ? "aten::ge.Tensor_out" : "aten::gt.Tensor_out",
                                      {wide, bounds}, {DType::b8, each, {}});
  if (!c.ok()) return;
  const DType counted = c.result_meta(0)->dtype.value_or(DType::s64);
  const ValueId count = kernel_result(
      c, "aten::sum.IntList_out",
      {c.converted(below, counted), wholes({static_cast<i64>(shape.size())}), truth(false), none()},
      {counted, shape, {}});
  if (c.ok()) c.result(count);
}

// Rows of the table [rows, width], one for each position: [n, width].
ValueId rows_of_table(Call& c, ValueId table, ValueId positions) {
  if (!c.ok()) return -1;
  const Type rows{DType::f32, {c.shape(positions)[0], c.shape(table)[1]}, {}};
  return kernel_result(c, "aten::embedding.out",
                       {table, positions, whole(-1), truth(false), truth(false)}, rows);
}

enum BagMode : i64 { kBagSum, kBagMean, kBagMax };

struct BagSizes {
  bool sound, even;  // none is empty or beyond the `n` positions; all have the size of the first
  i64 longest;
};
BagSizes sizes_of_bags(const std::vector<i64>& bounds, i64 n) {
  BagSizes s{bounds.size() > 1 && bounds[0] == 0 && bounds.back() <= n, true, 1};
  for (size_t k = 0; k + 1 < bounds.size() && s.sound; ++k) {
    const i64 size = bounds[k + 1] - bounds[k];
    s.sound = size >= 1;
    s.even = s.even && size == bounds[1] - bounds[0];
    s.longest = std::max(s.longest, size);
  }
  return s;
}

}  // namespace

static void import_bucketize(Call& c) {
  finish_intervals(c, c.operand("self"), "boundaries", c.boolean("right"));
}

static void import_searchsorted(Call& c) {
  c.require(!c.has("sorter"), "takes boundaries that are not in order", "", "",
            "pt2.bucketize.boundaries");
  finish_intervals(c, c.operand("self"), "sorted_sequence",
                   c.boolean("right") || (c.has("side") && c.text("side") == "right"));
}

// Bags of one size are rows of a matrix; of several sizes, sums by a matrix of ones, or the largest
// of as many rows as the longest has.
static void import_embedding_bag(Call& c) {
  const ValueId table = c.tensor("weight"), positions = c.any_tensor("indices"),
                offsets = c.any_tensor("offsets");
  const i64 mode = c.integer("mode");
  const auto known = c.known_numbers(offsets);
  c.require(!c.ok() || (c.rank(table) == 2 && c.rank(positions) == 1 && mode >= kBagSum &&
                        mode <= kBagMax),
            "takes a table of two axes, and positions of one",
            c.ok() ? fmt::format("{} and {}", c.rank(table), c.rank(positions)) : "", "2 and 1",
            "pt2.bag.rank");
  c.require(!c.ok() || known.has_value(), "the bags' bounds are computed", "", "constant",
            "pt2.bag.offsets");
  // Of the overload that has its name, a negative one counts rows from the end; elsewhere it means
  // none.
  const bool may_be_last = c.target().ends_with(".padding_idx");
  c.require(!c.has("padding_idx") || (!may_be_last && c.integer("padding_idx") < 0),
            "leaves a row of the table out", "", "", "pt2.bag.padding");
  if (!c.ok()) return;
  const i64 n = c.shape(positions)[0], width = c.shape(table)[1];
  std::vector<i64> bounds(known->begin(), known->end());
  if (!(c.has("include_last_offset") && c.boolean("include_last_offset"))) bounds.push_back(n);
  const i64 bags = static_cast<i64>(bounds.size()) - 1;
  const auto [sound, even, longest] = sizes_of_bags(bounds, n);
  c.require(sound, "a bag is empty, or its bounds are out of range", "",
            fmt::format("0..{}, rising", n), "pt2.bag.offsets");
  if (!c.ok()) return;
  ValueId rows = rows_of_table(c, table, positions);
  if (c.has("per_sample_weights"))
    rows =
        product(c, rows, c.reshape(c.tensor("per_sample_weights"), {n, 1}, "weights"), "weighted");
  if (!c.ok()) return;
  if (even && bounds.back() == n) {
    const i64 fn = mode == kBagSum ? Reduce::kSum : mode == kBagMean ? Reduce::kMean : Reduce::kMax;
    return c.result(0, c.reshape(reduced(c, fn, c.reshape(rows, {bags, longest, width}, "bags"),
                                         {1}, "reduced"),
                                 {bags, width}));
  }
  if (mode != kBagMax) {
    c.require(bags * n <= i64{1} << 22, "has too many bags of uneven sizes",
              fmt::format("{} x {}", bags, n), std::to_string(1 << 22), "pt2.bag.offsets");
    if (!c.ok()) return;
    Weights w(bags, n);
    for (i64 k = 0; k < bags; ++k)
      for (i64 at = bounds[k]; at < bounds[k + 1]; ++at)
        w.at(k, at) = mode == kBagSum ? 1.0f : 1.0f / static_cast<float>(bounds[k + 1] - bounds[k]);
    return c.result(0, weighted_along(c, rows, 0, w));
  }
  Axes index;
  for (i64 k = 0; k < bags; ++k)
    for (i64 at = 0; at < longest; ++at)
      index.push_back(std::min(bounds[k] + at, bounds[k + 1] - 1));
  const ValueId repeated =
      c.reshape(picked(c, rows, 0, std::move(index), "repeated"), {bags, longest, width}, "bags");
  c.result(0, c.reshape(reduced(c, Reduce::kMax, repeated, {1}, "reduced"), {bags, width}));
}

static constexpr ImportRow kLookupsRows[] = {
    {"aten._embedding_bag.default", import_embedding_bag},
    {"aten._embedding_bag_forward_only.default", import_embedding_bag},
    {"aten.bucketize.Tensor", import_bucketize},
    {"aten.embedding_bag.default", import_embedding_bag},
    {"aten.embedding_bag.padding_idx", import_embedding_bag},
    {"aten.searchsorted.Tensor", import_searchsorted},
};
ImportRows lookups_rows() { return kLookupsRows; }

}  // namespace deuteron::pt2
