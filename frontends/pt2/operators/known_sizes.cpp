// SPDX-License-Identifier: Apache-2.0
// Operators whose results have as many elements as the elements of an operand say: nonzero,
// masked_select, repeat_interleave, bincount, unique. Constants are computed here, and the sizes
// that the model leaves open are what comes out; computed operands are refused.
#include "frontends/pt2/operators/known_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/row_writes.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {

std::vector<Axes> places_not_zero(const Shape& shape, const std::vector<float>& elements) {
  std::vector<Axes> places(shape.size());
  for (size_t at = 0; at < elements.size(); ++at) {
    if (elements[at] == 0) continue;
    i64 rest = static_cast<i64>(at);
    for (size_t k = shape.size(); k-- > 0;) places[k].push_back(rest % shape[k]), rest /= shape[k];
  }
  return places;
}

ValueId nothing(Call& c, DType dtype, Shape shape) {
  return c.constant_value(c.name(), {dtype, std::move(shape), {}}, Constant{});
}

namespace {

ValueId positions(Call& c, Shape shape, const Axes& numbers, std::string_view suffix = {}) {
  if (numbers.empty()) return nothing(c, DType::s64, std::move(shape));
  return c.constant_value(c.name(suffix), {DType::s64, std::move(shape), {}},
                          constant_of(std::vector<i64>(numbers.begin(), numbers.end())));
}

// The elements of a constant, of at most as many as positions can count. Refuses what is computed.
std::optional<std::vector<float>> known_elements(Call& c, ValueId v) {
  c.give_up_if_broken(v);
  if (!c.ok()) return std::nullopt;
  c.require(c.type(v).elements() <= kMostPicked, "picks from too many elements",
            std::to_string(c.type(v).elements()), std::to_string(kMostPicked), "pt2.index.count");
  auto elements = c.known_numbers(v);
  if (c.ok() && !elements) c.refuse_computed_size();
  return elements;
}

// places_not_zero, counted among what the model makes: few bytes can say a large mask.
std::vector<Axes> places_of_constant(Call& c, const Shape& shape,
                                     const std::vector<float>& elements) {
  const auto count =
      elements.size() - static_cast<size_t>(std::count(elements.begin(), elements.end(), 0.0f));
  return c.may_make(static_cast<i64>(count * shape.size())) ? places_not_zero(shape, elements)
                                                            : std::vector<Axes>(shape.size());
}

// Elements of one row by their positions, of which there may be none.
void give_picked(Call& c, ValueId row, i64 axis, Axes index) {
  if (!c.ok()) return;
  Shape shape = c.shape(row);
  shape[axis] = static_cast<i64>(index.size());
  if (!c.check_declared_shape(0, shape)) return;
  c.result(index.empty() ? nothing(c, c.type(row).dtype, std::move(shape))
                         : picked(c, row, axis, std::move(index)));
}

// Position k as often as counts[k] says.
std::optional<Axes> repeated_positions(Call& c, const std::vector<float>& counts) {
  double total = 0;
  for (const float count : counts) {
    c.require(count >= 0 && count <= static_cast<float>(kMostPicked), "a count is out of range",
              fmt::format("{}", count), fmt::format("0..{}", kMostPicked), "pt2.repeat.range");
    total += count;
  }
  c.require(total <= static_cast<double>(kMostPicked), "repeats to too many elements",
            fmt::format("{}", total), std::to_string(kMostPicked), "pt2.index.count");
  if (!c.ok()) return std::nullopt;
  Axes index;
  for (size_t k = 0; k < counts.size(); ++k)
    index.insert(index.end(), static_cast<size_t>(counts[k]), static_cast<i64>(k));
  return index;
}

}  // namespace

std::vector<ValueId> without_masks(Call& c, std::vector<ValueId> tables) {
  std::vector<ValueId> result;
  for (size_t k = 0; k < tables.size() && c.ok(); ++k) {
    if (tables[k] < 0 || c.type(tables[k]).dtype != DType::b8) {
      result.push_back(tables[k]);
      continue;
    }
    const auto mask = known_elements(c, tables[k]);
    c.require(!c.ok() || c.rank(tables[k]) > 0, "picks by a mask without axes", "0", "1",
              "pt2.index.axes");
    if (!c.ok()) break;
    for (const Axes& places : places_of_constant(c, c.shape(tables[k]), *mask))
      result.push_back(positions(c, {static_cast<i64>(places.size())}, places,
                                 "places" + std::to_string(result.size())));
  }
  return result;
}

static void import_nonzero(Call& c) {
  const ValueId x = c.any_tensor("self");
  const auto elements = known_elements(c, x);
  if (!elements || !c.ok()) return;
  const std::vector<Axes> places = places_of_constant(c, c.shape(x), *elements);
  if (!c.ok()) return;
  const i64 count =
      std::count_if(elements->begin(), elements->end(), [](float v) { return v != 0; });
  Axes table;
  for (i64 k = 0; k < count; ++k)
    for (const Axes& axis : places) table.push_back(axis[k]);
  c.result(positions(c, {count, c.rank(x)}, table));
}

// A result for each axis.
static void import_nonzero_by_axis(Call& c) {
  const ValueId x = c.any_tensor(c.operator_name() == "where" ? "condition" : "self");
  const auto elements = known_elements(c, x);
  if (!elements || !c.ok()) return;
  const std::vector<Axes> places = places_of_constant(c, c.shape(x), *elements);
  if (!c.ok()) return;
  c.require(places.size() == c.result_count(), "has more or fewer results than axes",
            std::to_string(c.result_count()), std::to_string(places.size()), "pt2.graph.result");
  for (size_t k = 0; k < places.size() && c.ok(); ++k)
    c.result(k, positions(c, {static_cast<i64>(places[k].size())}, places[k],
                          "axis" + std::to_string(k)));
}

static void import_masked_select(Call& c) {
  const ValueId x = movable(c, "self"), mask = c.any_tensor("mask");
  const auto elements = known_elements(c, mask);
  if (!elements || !c.ok()) return;
  const auto both = broadcast_shape(c.shape(x), c.shape(mask));
  c.require(both.has_value(), "the mask does not fit", to_text(c.shape(mask)), to_text(c.shape(x)),
            "pt2.where.shape");
  c.require(!c.ok() || numel(*both) <= kMostPicked, "picks from too many elements",
            both ? std::to_string(numel(*both)) : "", std::to_string(kMostPicked),
            "pt2.index.count");
  if (!c.ok()) return;
  const std::vector<float> holds = broadcast_numbers(*elements, c.shape(mask), *both);
  give_picked(c, c.reshape(expanded(c, x, *both, "repeated"), {numel(*both)}, "row"), 0,
              places_of_constant(c, {numel(*both)}, holds)[0]);
}

// Of one operand: the positions themselves.
static void import_repeat_interleave(Call& c) {
  const bool has_self = c.has("self");
  const ValueId x = has_self ? movable(c, "self") : -1, repeats = c.any_tensor("repeats");
  auto counts = known_elements(c, repeats);
  if (!counts || !c.ok()) return;
  c.require(c.rank(repeats) <= 1, "repeats by a table of more than one axis",
            std::to_string(c.rank(repeats)), "1", "pt2.index.rank");
  if (!has_self) {
    const auto index = repeated_positions(c, *counts);
    if (index) c.result(positions(c, {static_cast<i64>(index->size())}, *index));
    return;
  }
  const bool flat = !c.has("dim");
  const ValueId row = flat ? c.reshape(x, {c.type(x).elements()}, "row") : x;
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(x));
  require_axes(c, row);
  if (!c.ok()) return;
  const auto extent = static_cast<size_t>(c.shape(row)[axis]);
  if (counts->size() == 1) counts->resize(extent, counts->front());
  c.require(counts->size() == extent, "has another number of counts than elements",
            std::to_string(counts->size()), std::to_string(extent), "pt2.repeat.range");
  if (!c.ok()) return;
  if (auto index = repeated_positions(c, *counts)) give_picked(c, row, axis, std::move(*index));
}

// How often each number from 0 occurs, or the sum of the weights beside it.
static void import_bincount(Call& c) {
  constexpr i64 kMostBins = i64{1} << 20;
  const ValueId x = c.any_tensor("self");
  const i64 least = c.integer("minlength");
  const auto elements = known_elements(c, x);
  c.require(!c.ok() || (least >= 0 && least <= kMostBins), "a count is out of range",
            std::to_string(least), fmt::format("0..{}", kMostBins), "pt2.repeat.range");
  if (!elements || !c.ok()) return;
  i64 count = least;
  Axes bins;
  for (const float v : *elements) {
    c.require(v >= 0 && v < static_cast<float>(kMostBins) && v == std::trunc(v),
              "counts a number that is none of 0, 1, 2, ..", fmt::format("{}", v),
              fmt::format("0..{}", kMostBins - 1), "pt2.bincount.number");
    if (!c.ok()) return;
    bins.push_back(static_cast<i64>(v));
    count = std::max(count, bins.back() + 1);
  }
  if (!c.check_declared_shape(0, {count}) || !c.may_make(count)) return;
  if (c.has("weights")) {
    const ValueId weights = c.tensor("weights");
    c.require(!c.ok() || c.type(weights).elements() == static_cast<i64>(bins.size()),
              "has another number of weights than elements", to_text(c.shape(weights)),
              std::to_string(bins.size()), "pt2.bincount.weights");
    if (!c.ok()) return;
    const ValueId zeros =
        c.constant("zeros", {count, 1}, std::vector<float>(static_cast<size_t>(count), 0.0f));
    const ValueId column = c.reshape(weights, {static_cast<i64>(bins.size()), 1}, "weights");
    return c.result(c.reshape(accumulated(c, zeros, column, bins), {count}));
  }
  Axes counts(static_cast<size_t>(count), 0);
  for (const i64 bin : bins) ++counts[bin];
  c.result(positions(c, {count}, counts));
}

// The different elements, in their order or, of neighbours, in that of the tensor; for each element
// its place among them; how often each occurs.
static void import_unique(Call& c) {
  const ValueId x = movable(c, "self");
  const bool neighbours = c.operator_name() == "unique_consecutive";
  c.require(!neighbours || !c.has("dim"),
            "finds different slices: only different elements are supported", "", "",
            "pt2.unique.axis");
  const auto elements = known_elements(c, x);
  if (!elements || !c.ok()) return;
  c.require(std::none_of(elements->begin(), elements->end(), [](float v) { return std::isnan(v); }),
            "tells apart what is not a number", "NaN", "a number", "pt2.unique.number");
  for (const float v : *elements)
    c.require(c.type(x).dtype == DType::f32 || std::abs(v) < kExactIntegers,
              "tells apart integers that float32 does not", fmt::format("{}", v), "below 2^24",
              "pt2.unique.number");
  if (!c.ok()) return;
  std::vector<float> values = *elements;
  if (!neighbours) std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Axes inverse, counts(values.size(), 0);
  const bool wants_places = c.boolean("return_inverse");
  i64 at = -1;
  for (size_t k = 0; k < elements->size(); ++k) {
    const float v = (*elements)[k];
    if (!neighbours) at = std::lower_bound(values.begin(), values.end(), v) - values.begin();
    else if (k == 0 || v != (*elements)[k - 1]) ++at;
    if (wants_places) inverse.push_back(at);
    ++counts[at];
  }
  const auto count = static_cast<i64>(values.size());
  if (!c.check_declared_shape(0, {count})) return;
  c.result(0, count == 0 ? nothing(c, c.type(x).dtype, {0})
                         : c.known_value({c.type(x).dtype, {count}, {}}, values));
  if (wants_places) c.result(1, positions(c, Shape(c.shape(x)), inverse, "inverse"));
  if (c.boolean("return_counts")) c.result(2, positions(c, {count}, counts, "counts"));
}

// A real number out of a constant, which is an argument of other nodes.
static void import_number(Call& c) {
  const ValueId x = c.any_tensor("self");
  c.give_up_if_broken(x);
  const auto elements = c.ok() ? c.known_numbers(x) : std::nullopt;
  if (c.ok() && !elements)
    c.refuse({"takes a number out of a tensor that is computed: numbers are fixed when the program "
              "is made",
              "", "", "pt2.item.computed"},
             "keep it a tensor: x * scale instead of x * scale.item()");
  if (!c.ok()) return;
  const bool is_one = elements->size() == 1;
  c.require(is_one && std::isfinite(elements->front()),
            "takes a number out of a tensor that is not one finite number",
            is_one ? fmt::format("{}", elements->front()) : to_text(c.type(x)), "1 finite element",
            "pt2.item.number");
  if (c.ok()) c.number_result(elements->front());
}

// A number of the model's own, where it is a constant.
static void import_item(Call& c) {
  if (c.gives_number()) return import_number(c);
  const ValueId x = c.any_tensor("self");
  if (!c.is_derived_from_constants(x) && c.drop_tested_size()) return;
  const auto elements = known_elements(c, x);
  if (!elements || !c.ok()) return;
  const bool is_one = elements->size() == 1;
  const double number = is_one ? elements->front() : 0;
  c.require(is_one && std::abs(number) < kMostPicked && number == std::trunc(number),
            "takes a size out of a tensor that is not one whole number",
            is_one ? fmt::format("{}", number) : to_text(c.type(x)),
            fmt::format("1 below {}", kMostPicked), "pt2.item.number");
  if (c.ok()) c.size_result(static_cast<i64>(number));
}

static constexpr ImportRow kKnownSizesRows[] = {
    {"aten._local_scalar_dense.default", import_item},
    {"aten._unique2.default", import_unique},
    {"aten.argwhere.default", import_nonzero},
    {"aten.bincount.default", import_bincount},
    {"aten.item.default", import_item},
    {"aten.masked_select.default", import_masked_select},
    {"aten.nonzero.default", import_nonzero},
    {"aten.nonzero_numpy.default", import_nonzero_by_axis},
    {"aten.repeat_interleave.Tensor", import_repeat_interleave},
    {"aten.repeat_interleave.self_Tensor", import_repeat_interleave},
    {"aten.unique_consecutive.default", import_unique},
    {"aten.where.default", import_nonzero_by_axis},
};
ImportRows known_sizes_rows() { return kKnownSizesRows; }

}  // namespace deuteron::pt2
