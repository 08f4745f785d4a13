// SPDX-License-Identifier: Apache-2.0
// Operators that pick, join or repeat whole elements: slice, select, split, cat, flip, roll and
// their relatives.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

// Elements start, start + step, .. of one axis, which must exist.
ValueId slice_of(Call& c, ValueId x, i64 axis, i64 start, i64 count, i64 step,
                 std::string_view suffix = {}) {
  if (!c.ok() || x < 0) return -1;
  c.require(count >= 1, "the slice is empty", std::to_string(count), "1", "pt2.slice.empty");
  if (!c.ok()) return -1;
  if (start == 0 && step == 1 && count == c.shape(x)[axis]) return x;
  return c.add(Slice{axis, start, count, count == 1 ? 1 : step}, {x},
               suffix);  // of a single element the step says nothing
}

ValueId without_axis(Call& c, ValueId x, i64 axis, std::string_view suffix = {}) {
  if (!c.ok() || x < 0) return -1;
  Shape shape = c.shape(x);
  shape.erase(shape.begin() + axis);
  return c.reshape(x, std::move(shape), suffix);
}

// The same without elements along the axis.
ValueId nothing_of(Call& c, ValueId x, i64 axis) {
  Type type = c.type(x);
  type.shape[axis] = 0;
  return c.constant_value(c.name("nothing"), std::move(type), Constant{});
}

// torch counts from the end for negative positions, and cuts positions off at the ends.
i64 position(i64 v, i64 extent) { return std::clamp<i64>(v < 0 ? v + extent : v, 0, extent); }

// Result k of a node that splits: slices `at` long one behind the other.
void finish_split(Call& c, ValueId x, i64 axis, const std::vector<i64>& sizes) {
  if (!c.ok()) return;
  const i64 sum = std::accumulate(sizes.begin(), sizes.end(), i64{0});
  c.require(sum == c.shape(x)[axis] && sizes.size() == c.result_count(),
            "the parts do not make up the axis", fmt::format("{} in {} parts", sum, sizes.size()),
            fmt::format("{} in {} parts", c.shape(x)[axis], c.result_count()), "pt2.split.sizes");
  c.may_share_memory("self");
  i64 at = 0;
  for (size_t k = 0; k < sizes.size() && c.ok(); ++k) {
    c.result(k, sizes[k] == 0
                    ? nothing_of(c, x, axis)
                    : slice_of(c, x, axis, at, sizes[k], 1, k == 0 ? "" : std::to_string(k)));
    at += sizes[k];
  }
}

std::vector<i64> equal_parts(i64 extent, i64 size) {
  std::vector<i64> sizes;
  for (i64 at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
  return sizes;
}

// Operands of no elements count for nothing, as in torch.
void finish_concat(Call& c, std::vector<ValueId> parts, i64 axis) {
  if (!c.ok()) return;
  if (parts.size() > 1) std::erase_if(parts, [&](ValueId v) { return c.type(v).elements() == 0; });
  c.require(!parts.empty(), "joins nothing", "0", "1", "pt2.concat.operands");
  if (c.ok()) c.result(parts.size() == 1 ? parts[0] : c.add(Concat{axis}, parts));
}

}  // namespace

static void import_slice(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  const i64 step = c.integer("step");
  c.require(!c.ok() || step >= 1, "steps backwards", std::to_string(step), "1", "pt2.slice.step");
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  const i64 start = position(c.has("start") ? c.integer("start") : 0, extent),
            end = position(c.has("end") ? c.integer("end") : extent, extent);
  c.may_share_memory("self");
  c.result(slice_of(c, x, axis, start, end > start ? 1 + (end - start - 1) / step : 0, step));
}

static void import_narrow(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis], start = position(c.integer("start"), extent);
  c.may_share_memory("self");
  c.result(slice_of(c, x, axis, start, c.integer("length"), 1));
}

static void import_select(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  if (!c.ok()) return;
  const i64 index = c.normalized_axis(c.integer("index"), c.shape(x)[axis]);
  c.may_share_memory("self");
  c.result(without_axis(c, slice_of(c, x, axis, index, 1, 1, "slice"), axis));
}

static void import_split(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x)), size = c.integer("split_size");
  require_axes(c, x);
  c.require(!c.ok() || size >= 1, "splits into parts of no extent", std::to_string(size), "1",
            "pt2.split.sizes");
  if (c.ok()) finish_split(c, x, axis, equal_parts(c.shape(x)[axis], size));
}

static void import_split_sizes(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  // of aten.split.sizes
  const std::vector<i64> sizes = c.integers(c.has("split_sizes") ? "split_sizes" : "split_size");
  if (c.ok()) finish_split(c, x, axis, sizes);
}

static void import_chunk(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x)), chunks = c.integer("chunks");
  require_axes(c, x);
  c.require(!c.ok() || chunks >= 1, "splits into no parts", std::to_string(chunks), "1",
            "pt2.split.sizes");
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  finish_split(c, x, axis, equal_parts(extent, (extent + chunks - 1) / chunks));
}

static void import_unbind(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  if (!c.ok()) return;
  c.require(c.shape(x)[axis] == static_cast<i64>(c.result_count()),
            "has another number of results than the axis has elements",
            std::to_string(c.result_count()), std::to_string(c.shape(x)[axis]), "pt2.split.sizes");
  c.may_share_memory("self");
  for (size_t k = 0; k < c.result_count() && c.ok(); ++k) {
    const std::string suffix = k == 0 ? "" : std::to_string(k);
    c.result(k, without_axis(c, slice_of(c, x, axis, static_cast<i64>(k), 1, 1, "slice" + suffix),
                             axis, suffix));
  }
}

// What is joined: float32, or integers and masks where the result is of them.
static std::vector<ValueId> parts_of(Call& c) {
  const std::vector<ValueId> parts = c.optional_tensors("tensors");
  for (const ValueId v : parts) {
    const bool is_whole = c.type(v).dtype == DType::s64 || c.type(v).dtype == DType::s32 ||
                          c.type(v).dtype == DType::b8;
    if (!is_whole || c.type(v).dtype != c.type(parts[0]).dtype) return c.tensors("tensors");
  }
  return parts;
}

static void import_cat(Call& c) {
  std::vector<ValueId> parts = parts_of(c);
  i64 rank = 0;
  for (const ValueId v : parts) rank = std::max(rank, c.rank(v));
  const i64 axis = c.axis("dim", rank);
  finish_concat(c, std::move(parts), axis);
}

static void import_stack(Call& c) {
  std::vector<ValueId> parts = parts_of(c);
  const i64 axis = c.axis("dim", parts.empty() ? 1 : c.rank(parts[0]) + 1);
  for (size_t k = 0; k < parts.size() && c.ok(); ++k) {
    Shape shape = c.shape(parts[k]);
    c.require(axis <= static_cast<i64>(shape.size()), "its operands have different ranks",
              std::to_string(shape.size()), std::to_string(axis), "pt2.concat.rank");
    if (!c.ok()) return;
    shape.insert(shape.begin() + axis, 1);
    parts[k] = c.reshape(parts[k], std::move(shape), "part" + std::to_string(k));
  }
  finish_concat(c, std::move(parts), axis);
}

static void import_flip(Call& c) {
  ValueId x = movable(c, "self");
  for (const i64 axis : c.axes("dims", c.rank(x))) {
    require_axes(c, x);
    if (!c.ok()) return;
    const i64 extent = c.shape(x)[axis];
    c.require(extent <= kMostPicked, "turns round an axis of too many elements",
              std::to_string(extent), std::to_string(kMostPicked), "pt2.flip.extent");
    if (!c.ok()) return;
    Axes index(extent);
    std::iota(index.rbegin(), index.rend(), 0);
    x = picked(c, x, axis, std::move(index), "axis" + std::to_string(axis));
  }
  c.result(x);
}

// Without axes the elements are rolled as if they lay in one row.
static void import_roll(Call& c) {
  const ValueId x = movable(c, "self");
  const std::vector<i64> shifts = c.integers("shifts");
  const bool flat = !c.has("dims") || c.integers("dims").empty();
  const std::vector<i64> axes = flat ? std::vector<i64>{0} : c.axes("dims", c.rank(x));
  c.require(!c.ok() || shifts.size() == axes.size(), "does not have one shift for each axis",
            std::to_string(shifts.size()), std::to_string(axes.size()), "pt2.roll.count");
  if (!c.ok()) return;
  ValueId y = flat ? c.reshape(x, {c.type(x).elements()}, "flat") : x;
  for (size_t k = 0; k < axes.size() && c.ok(); ++k) {
    const i64 extent = c.shape(y)[axes[k]];
    Axes index(extent);
    for (i64 i = 0; i < extent; ++i)
      index[i] = ((i - shifts[k] % extent) % extent + extent) % extent;
    y = picked(c, y, axes[k], std::move(index), "axis" + std::to_string(axes[k]));
  }
  c.result(flat ? c.reshape(y, c.shape(x)) : y);
}

static void import_repeat(Call& c) {
  ValueId x = movable(c, "self");
  std::vector<i64> repeats = c.integers(c.has("dims") ? "dims" : "repeats");
  if (c.has("dims"))  // tile: as many ones in front as there are axes without a count
    while (c.ok() && static_cast<i64>(repeats.size()) < c.rank(x))
      repeats.insert(repeats.begin(), 1);
  c.require(!c.ok() || static_cast<i64>(repeats.size()) >= c.rank(x), "has fewer counts than axes",
            std::to_string(repeats.size()), std::to_string(c.rank(x)), "pt2.repeat.count");
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  x = c.reshape(x, shape, "axes");
  Shape expanded = shape;  // what is one element along an axis, others repeat without a copy
  for (size_t k = 0; k < repeats.size(); ++k) {
    c.require(repeats[k] >= 1 && repeats[k] <= 4096, "a count is out of range",
              std::to_string(repeats[k]), "1..4096", "pt2.repeat.range");
    if (shape[k] == 1) expanded[k] = repeats[k];
  }
  if (c.ok() && expanded != shape) x = c.add(Expand{expanded}, {x}, "expanded");
  for (size_t k = 0; k < repeats.size() && c.ok(); ++k) {
    if (repeats[k] > 1 && shape[k] != 1)
      x = c.add(Concat{static_cast<i64>(k)},
                std::vector<ValueId>(static_cast<size_t>(repeats[k]), x),
                "axis" + std::to_string(k));
  }
  c.result(x);
}

static constexpr ImportRow kMovesRows[] = {
    {"aten.cat.default", import_cat},
    {"aten.chunk.default", import_chunk},
    {"aten.concat.default", import_cat},
    {"aten.concatenate.default", import_cat},
    {"aten.flip.default", import_flip},
    {"aten.narrow.default", import_narrow},
    {"aten.narrow_copy.default", import_narrow},
    {"aten.repeat.default", import_repeat},
    {"aten.roll.default", import_roll},
    {"aten.select.int", import_select},
    {"aten.select_copy.int", import_select},
    {"aten.slice.Tensor", import_slice},
    {"aten.slice_copy.Tensor", import_slice},
    {"aten.split.Tensor", import_split},
    {"aten.split.sizes", import_split_sizes},
    {"aten.split_with_sizes.default", import_split_sizes},
    {"aten.split_with_sizes_copy.default", import_split_sizes},
    {"aten.stack.default", import_stack},
    {"aten.tile.default", import_repeat},
    {"aten.unbind.int", import_unbind},
    {"aten.unbind_copy.int", import_unbind},
    {"aten.unsafe_chunk.default", import_chunk},
    {"aten.unsafe_split.Tensor", import_split},
    {"aten.unsafe_split_with_sizes.default", import_split_sizes},
};
ImportRows moves_rows() { return kMovesRows; }

}  // namespace deuteron::pt2
