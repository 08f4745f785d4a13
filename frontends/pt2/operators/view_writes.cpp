// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/view_writes.h"

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/row_writes.h"

namespace deuteron::pt2 {

ValueId with_slice(Call& c, ValueId x, ValueId part, i64 axis, i64 start, i64 end, i64 step) {
  if (!c.ok()) return -1;
  const i64 extent = c.shape(x)[axis];
  // Axis positions of x, then of the part that stands behind it.
  Axes index(static_cast<size_t>(extent));
  std::iota(index.begin(), index.end(), 0);
  i64 taken = 0;
  for (i64 at = start; at < end; at += step) index[at] = extent + taken++;
  Shape slice = c.shape(x);
  slice[axis] = taken;
  c.require(slice == c.shape(part), "the part does not fit the slice", to_text(c.shape(part)),
            to_text(slice), "pt2.scatter.extent");
  if (!c.ok()) return -1;
  if (taken == extent) return part;
  if (step != 1) return picked(c, c.add(Concat{axis}, {x, part}, "both"), axis, std::move(index));
  std::vector<ValueId> parts;
  if (start > 0) parts.push_back(c.add(Slice{axis, 0, start, 1}, {x}, "before"));
  parts.push_back(part);
  if (end < extent) parts.push_back(c.add(Slice{axis, end, extent - end, 1}, {x}, "after"));
  return c.add(Concat{axis}, std::move(parts));
}

namespace {

// Some positions along each axis; a block is all of their combinations.
using Block = std::vector<Axes>;

Shape extents_of(const Block& block) {
  Shape shape;
  for (const Axes& along : block) shape.push_back(static_cast<i64>(along.size()));
  return shape;
}

// The block whose elements the positions name row by row; none when there is no such block.
std::optional<Block> block_of(const Shape& shape, const Axes& positions) {
  Block block;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const i64 step = numel({shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()});
    std::vector<bool> seen(static_cast<size_t>(shape[axis]), false);
    for (const i64 p : positions) seen[p / step % shape[axis]] = true;
    Axes& along = block.emplace_back();
    for (i64 k = 0; k < shape[axis]; ++k)
      if (seen[k]) along.push_back(k);
  }
  const Shape extents = extents_of(block);
  if (numel(extents) != static_cast<i64>(positions.size())) return std::nullopt;
  for (size_t k = 0; k < positions.size(); ++k) {
    i64 rest = static_cast<i64>(k), expected = 0, step = 1;
    for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis], rest /= extents[axis])
      expected += block[axis][rest % extents[axis]] * step;
    if (positions[k] != expected) return std::nullopt;
  }
  return block;
}

// 0 when the positions do not lie at one distance.
i64 step_of(const Axes& along) {
  const i64 step = along.size() > 1 ? along[1] - along[0] : 1;
  for (size_t k = 1; k < along.size(); ++k)
    if (along[k] - along[k - 1] != step) return 0;
  return step;
}

ValueId with_rows(Call& c, ValueId x, ValueId part, i64 axis, const Axes& along) {
  if (const i64 step = step_of(along))
    return with_slice(c, x, part, axis, along.front(), along.back() + 1, step);
  const Rows rows = rows_along(c, x, axis, "rows"),
             written = rows_along(c, part, axis, "part_rows");
  return from_rows(c, rows, overwritten(c, rows.value, written.value, along));
}

// From the last axis that is not whole to the first: the part grows to whole slices.
ValueId with_block(Call& c, ValueId x, ValueId part, const Block& block) {
  const Shape shape = c.shape(x);
  std::vector<std::pair<i64, ValueId>>
      cut;  // axis, and x cut to the block along all such axes before it
  ValueId rest = x;
  for (i64 axis = 0; axis < static_cast<i64>(block.size()) && c.ok(); ++axis) {
    if (static_cast<i64>(block[axis].size()) == shape[axis]) continue;
    cut.emplace_back(axis, rest);
    rest = picked(c, rest, axis, block[axis], "rest" + std::to_string(axis));
  }
  for (size_t k = cut.size(); k-- > 0 && c.ok();)
    part = with_rows(c, cut[k].second, part, cut[k].first, block[cut[k].first]);
  return part;
}

}  // namespace

ValueId with_elements(Call& c, ValueId x, ValueId part, const Axes& positions) {
  if (!c.ok()) return -1;
  const Shape shape = c.shape(x);
  if (const auto block = block_of(shape, positions))
    return with_block(c, x, c.reshape(part, extents_of(*block), "block"), *block);
  const ValueId rows = c.reshape(x, {numel(shape), 1}, "elements");
  const ValueId written = c.reshape(part, {static_cast<i64>(positions.size()), 1}, "part");
  return c.reshape(overwritten(c, rows, written, positions), shape);
}

}  // namespace deuteron::pt2
