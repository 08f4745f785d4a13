// SPDX-License-Identifier: Apache-2.0
// Further spellings of picking, joining and repeating elements: what is a permute, a reshape, a
// gather or a concatenation.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "frontends/pt2/operators/view_writes.h"

namespace deuteron::pt2 {
namespace {

// Operands of at least `rank` axes, as torch's atleast_1d and its relatives make them.
Shape with_axes(const Shape& shape, i64 rank) {
  Shape s = shape;
  if (rank == 3 && s.size() == 2) return {s[0], s[1], 1};
  if (rank == 3 && s.size() == 1) return {1, s[0], 1};
  while (static_cast<i64>(s.size()) < rank) s.insert(s.begin(), 1);
  return s;
}

}  // namespace

// Axis source[k] becomes axis destination[k]; the others keep their order.
static void import_movedim(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 rank = c.rank(x);
  const std::vector<i64> from = c.axes("source", rank), to = c.axes("destination", rank);
  c.require(!c.ok() || from.size() == to.size(), "names as many sources as destinations",
            std::to_string(from.size()), std::to_string(to.size()), "pt2.permute.count");
  if (!c.ok()) return;
  Axes perm(static_cast<size_t>(rank), -1);
  for (size_t k = 0; k < from.size(); ++k) perm[to[k]] = from[k];
  i64 next = 0;
  for (i64& axis : perm) {
    if (axis >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    axis = next++;
  }
  c.may_share_memory("self");
  c.result(c.permute(x, std::move(perm)));
}

// mT, mH, adjoint
static void import_matrix_transpose(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank >= 2, "transposes matrices", std::to_string(rank), "2",
            "pt2.permute.rank");
  if (!c.ok()) return;
  Axes perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 1], perm[rank - 2]);
  c.may_share_memory("self");
  c.result(c.permute(x, std::move(perm)));
}

// ravel, atleast_1d and its relatives: the shape is what the model says.
static void import_reshape_as_declared(Call& c) {
  const ValueId x = c.any_tensor("self");
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  c.may_share_memory("self");
  c.result(c.reshape(x, declared->sizes));
}

// expand_as; copy, whose result has the extents of what it overwrites.
static void import_expand_as(Call& c) {
  const bool copies = c.operator_name() == "copy";
  const ValueId x = c.any_tensor(copies ? "src" : "self"),
                other = c.any_tensor(copies ? "self" : "other");
  if (!c.ok()) return;
  const Shape size = c.shape(other);
  c.require(c.shape(x).size() <= size.size(), "expands to fewer axes than the operand has",
            to_text(size), to_text(c.shape(x)), "pt2.expand.rank");
  if (!c.ok()) return;
  if (!copies) c.may_share_memory("self");
  c.result(expanded(c, x, size));
}

// hstack, vstack, dstack, column_stack: a concatenation of operands with enough axes.
static void import_stack_of(Call& c) {
  std::vector<ValueId> parts = c.tensors("tensors");
  const std::string_view name = c.operator_name();
  if (!c.ok() || parts.empty())
    return c.require(!parts.empty(), "joins nothing", "0", "1", "pt2.concat.operands");
  const i64 first = c.rank(parts[0]);
  i64 axis = name == "vstack" ? 0 : name == "dstack" ? 2 : name == "hstack" && first <= 1 ? 0 : 1;
  const i64 least = name == "hstack" ? 1 : name == "dstack" ? 3 : 2;
  for (size_t k = 0; k < parts.size() && c.ok(); ++k) {
    Shape shape = c.shape(parts[k]);
    if (name == "column_stack" && shape.size() <= 1) shape = {numel(shape), 1};
    parts[k] = c.reshape(parts[k], with_axes(shape, least), "part" + std::to_string(k));
  }
  if (c.ok()) c.result(parts.size() == 1 ? parts[0] : c.add(Concat{axis}, parts));
}

// Every element `repeats` times, one behind the other.
static void import_repeat_interleave(Call& c) {
  const ValueId given = movable(c, "self");
  const i64 repeats = c.integer("repeats");
  c.require(!c.ok() || (repeats >= 1 && repeats <= 4096), "a count is out of range",
            std::to_string(repeats), "1..4096", "pt2.repeat.range");
  const bool flat = !c.has("dim");
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(given));
  if (!c.ok()) return;
  const ValueId x = flat ? c.reshape(given, {c.type(given).elements()}, "flat") : given;
  require_axes(c, x);
  if (!c.ok()) return;
  Axes index;
  for (i64 k = 0; k < c.shape(x)[axis] * repeats; ++k) index.push_back(k / repeats);
  c.result(picked(c, x, axis, std::move(index)));
}

// Windows of `size` elements, `step` apart, along an axis; the elements of a window are a new last
// axis.
static void import_unfold(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 rank = c.rank(x), axis = c.axis("dimension", rank), size = c.integer("size"),
            step = c.integer("step");
  require_axes(c, x);
  c.require(!c.ok() || (size >= 1 && step >= 1 && size <= c.shape(x)[axis]),
            "the windows do not fit the axis", std::to_string(size),
            c.ok() ? std::to_string(c.shape(x)[axis]) : "", "pt2.unfold.size");
  if (!c.ok()) return;
  Shape split = c.shape(x);
  const i64 windows = (split[axis] - size) / step + 1;
  split[axis] = windows;
  split.insert(split.begin() + axis + 1, size);
  Axes index, perm;
  for (i64 k = 0; k <= rank; ++k)
    if (k != axis + 1) perm.push_back(k);
  perm.push_back(axis + 1);
  Shape shape;
  for (const i64 k : perm) shape.push_back(split[k]);
  if (!c.check_declared_shape(0, shape)) return;  // before as many positions are made
  for (i64 w = 0; w < windows; ++w)
    for (i64 k = 0; k < size; ++k) index.push_back(w * step + k);
  c.may_share_memory("self");
  c.result(c.permute(c.reshape(picked(c, x, axis, std::move(index), "windows"), split, "windows"),
                     perm));
}

static void import_slice_scatter(Call& c) {
  const ValueId x = c.tensor("self"), part = c.tensor("src");
  const i64 axis = c.axis("dim", c.rank(x)), step = c.integer("step");
  require_axes(c, x);
  c.require(!c.ok() || step >= 1, "steps backwards", std::to_string(step), "1", "pt2.slice.step");
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  const auto position = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + extent : v, 0, extent); };
  c.result(with_slice(c, x, part, axis, position(c.has("start") ? c.integer("start") : 0),
                      position(c.has("end") ? c.integer("end") : extent),
                      std::min(step, extent + 1)));
}

static void import_select_scatter(Call& c) {
  const ValueId x = c.tensor("self"), part = c.tensor("src");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  if (!c.ok()) return;
  const i64 at = c.normalized_axis(c.integer("index"), c.shape(x)[axis]);
  Shape shape = c.shape(part);
  c.require(static_cast<i64>(shape.size()) + 1 == c.rank(x), "the part does not fit the slice",
            to_text(shape), to_text(c.shape(x)), "pt2.scatter.extent");
  if (!c.ok()) return;
  shape.insert(shape.begin() + axis, 1);
  c.result(with_slice(c, x, c.reshape(part, shape, "part"), axis, at, at + 1, 1));
}

// Result k repeats operand k along every axis but its own. "xy" swaps the first two axes.
static void import_meshgrid(Call& c) {
  const std::vector<ValueId> parts = c.optional_tensors("tensors");
  const bool swaps = c.has("indexing") && c.text("indexing") == "xy" && parts.size() >= 2;
  Shape full;
  for (const ValueId v : parts) {
    c.require(!c.ok() || c.rank(v) <= 1, "takes vectors", c.ok() ? std::to_string(c.rank(v)) : "",
              "rank 1", "pt2.meshgrid.rank");
    full.push_back(c.ok() ? c.type(v).elements() : 1);
  }
  c.require(!c.ok() || parts.size() == c.result_count(),
            "has another number of results than operands", std::to_string(parts.size()),
            std::to_string(c.result_count()), "pt2.meshgrid.count");
  if (!c.ok()) return;
  if (swaps) std::swap(full[0], full[1]);
  for (size_t k = 0; k < parts.size() && c.ok(); ++k) {
    const size_t own = swaps && k < 2 ? 1 - k : k;
    Shape shape(full.size(), 1);
    shape[own] = full[own];
    const std::string name = std::to_string(k);
    c.result(k, expanded(c, c.reshape(parts[k], shape, "axes" + name), full, "grid" + name));
  }
}

// a - b of integers, by a portable kernel.
static ValueId whole_difference(Call& c, ValueId a, ValueId b) {
  c.require(!c.ok() || c.type(a).dtype != DType::b8, "subtracts true and false", "bool", "numbers",
            "pt2.diff.dtype");
  return c.ok() ? kernel_result(c, "aten::sub.out", {a, b, whole(1)}, c.type(a)) : -1;
}

// Element k + 1 less element k, n times over; further elements may stand before and behind.
static void import_diff(Call& c) {
  ValueId x = movable(c, "self");
  const i64 n = c.integer("n"), axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  std::vector<ValueId> parts{x};
  if (c.has("prepend")) parts.insert(parts.begin(), movable(c, "prepend"));
  if (c.has("append")) parts.push_back(movable(c, "append"));
  if (parts.size() > 1) x = c.add(Concat{axis}, parts, "all");
  c.require(!c.ok() || (n >= 1 && n < c.shape(x)[axis]), "leaves no elements", std::to_string(n),
            c.ok() ? std::to_string(c.shape(x)[axis]) : "", "pt2.diff.count");
  for (i64 k = 0; k < n && c.ok(); ++k) {
    const i64 rest = c.shape(x)[axis] - 1;
    const ValueId next = c.add(Slice{axis, 1, rest, 1}, {x}, "next"),
                  one = c.add(Slice{axis, 0, rest, 1}, {x}, "one");
    x = c.type(x).dtype == DType::f32 ? difference(c, next, one, k + 1 == n ? "" : "difference")
                                      : whole_difference(c, next, one);
  }
  c.result(x);
}

namespace {

ValueId flipped(Call& c, ValueId x, i64 axis) {
  if (!c.ok()) return -1;
  Axes index(static_cast<size_t>(c.shape(x)[axis]));
  std::iota(index.rbegin(), index.rend(), 0);
  return picked(c, x, axis, std::move(index), "flipped" + std::to_string(axis));
}

}  // namespace

static void import_flip_of(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 axis = c.operator_name() == "fliplr" ? 1 : 0;
  c.require(!c.ok() || c.rank(x) > axis, "has too few axes", std::to_string(c.rank(x)),
            std::to_string(axis + 1), "pt2.flip.rank");
  c.result(flipped(c, x, axis));
}

// k quarter turns from the first axis towards the second.
static void import_rot90(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 rank = c.rank(x), turns = (c.integer("k") % 4 + 4) % 4;
  const std::vector<i64> axes = c.axes("dims", rank);
  c.require(!c.ok() || axes.size() == 2, "turns two axes", std::to_string(axes.size()), "2",
            "pt2.permute.count");
  if (!c.ok()) return;
  ValueId y = x;
  if (turns == 1 || turns == 2) y = flipped(c, y, axes[1]);
  if (turns == 3 || turns == 2) y = flipped(c, y, axes[0]);
  Axes perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (turns % 2 == 1) std::swap(perm[axes[0]], perm[axes[1]]);
  c.result(c.permute(y, perm));
}

// Half an axis further: what lies in the middle of a spectrum, and back.
static void import_fftshift(Call& c) {
  ValueId x = c.tensor("self");
  const bool back = c.operator_name() == "fft_ifftshift";
  std::vector<i64> axes;
  if (c.has("dim")) axes = c.axes("dim", c.rank(x));
  else
    for (i64 k = 0; k < c.rank(x); ++k) axes.push_back(k);
  for (const i64 axis : axes) {
    if (!c.ok()) return;
    const i64 extent = c.shape(x)[axis], by = back ? (extent + 1) / 2 : extent / 2;
    Axes index;
    for (i64 k = 0; k < extent; ++k) index.push_back((k - by + extent) % extent);
    x = picked(c, x, axis, std::move(index), "axis" + std::to_string(axis));
  }
  c.result(x);
}

// Parts that end at the given positions, or as many parts of nearly one size. hsplit: along axis 1,
// of a vector 0.
static void import_tensor_split(Call& c) {
  const ValueId x = c.any_tensor("self");
  const std::string_view name = c.operator_name();
  const bool of_axis = name == "tensor_split";
  const i64 fixed = name == "vsplit" ? 0 : name == "dsplit" ? 2 : c.rank(x) == 1 ? 0 : 1;
  const i64 axis = of_axis ? c.axis("dim", c.rank(x)) : fixed;
  require_axes(c, x);
  c.require(!c.ok() || axis < c.rank(x), "has too few axes", std::to_string(c.rank(x)),
            std::to_string(axis + 1), "pt2.split.rank");
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis], parts = static_cast<i64>(c.result_count());
  std::vector<i64> ends;
  if (c.has("indices")) {
    for (const i64 v : c.integers("indices"))
      ends.push_back(std::clamp<i64>(v < 0 ? v + extent : v, 0, extent));
  } else {
    for (i64 k = 1; k < parts; ++k)
      ends.push_back(k * (extent / parts) + std::min(k, extent % parts));
  }
  ends.push_back(extent);
  c.require(static_cast<i64>(ends.size()) == parts && std::is_sorted(ends.begin(), ends.end()),
            "the parts do not make up the axis", std::to_string(ends.size()), std::to_string(parts),
            "pt2.split.sizes");
  c.may_share_memory("self");
  i64 at = 0;
  for (size_t k = 0; k < ends.size() && c.ok(); ++k) {
    const i64 count = ends[k] - at;
    c.require(count >= 1, "the slice is empty", std::to_string(count), "1", "pt2.slice.empty");
    if (!c.ok()) return;
    c.result(k, count == extent
                    ? x
                    : c.add(Slice{axis, at, count, 1}, {x}, k == 0 ? "" : std::to_string(k)));
    at = ends[k];
  }
}

static void import_broadcast_tensors(Call& c) {
  const std::vector<ValueId> parts = c.optional_tensors("tensors");
  for (size_t k = 0; k < parts.size() && c.ok(); ++k) {
    const TensorMeta* declared = c.result_meta(k);
    if (!c.ok()) return;
    const Shape size = declared->sizes;
    c.require(c.shape(parts[k]).size() <= size.size(), "expands to fewer axes than the operand has",
              to_text(size), to_text(c.shape(parts[k])), "pt2.expand.rank");
    if (c.ok()) c.result(k, expanded(c, parts[k], size, "part" + std::to_string(k)));
  }
}

static constexpr ImportRow kRearrangementsRows[] = {
    {"aten.adjoint.default", import_matrix_transpose},
    {"aten.atleast_1d.default", import_reshape_as_declared},
    {"aten.atleast_2d.default", import_reshape_as_declared},
    {"aten.atleast_3d.default", import_reshape_as_declared},
    {"aten.broadcast_tensors.default", import_broadcast_tensors},
    {"aten.column_stack.default", import_stack_of},
    {"aten.copy.default", import_expand_as, true},
    {"aten.diff.default", import_diff},
    {"aten.dsplit.array", import_tensor_split},
    {"aten.dsplit.int", import_tensor_split},
    {"aten.dstack.default", import_stack_of},
    {"aten.expand_as.default", import_expand_as},
    {"aten.fft_fftshift.default", import_fftshift},
    {"aten.fft_ifftshift.default", import_fftshift},
    {"aten.fliplr.default", import_flip_of},
    {"aten.flipud.default", import_flip_of},
    {"aten.hsplit.array", import_tensor_split},
    {"aten.hsplit.int", import_tensor_split},
    {"aten.hstack.default", import_stack_of},
    {"aten.mT.default", import_matrix_transpose},
    {"aten.matrix_H.default", import_matrix_transpose},
    {"aten.meshgrid.default", import_meshgrid},
    {"aten.meshgrid.indexing", import_meshgrid},
    {"aten.moveaxis.int", import_movedim},
    {"aten.moveaxis.intlist", import_movedim},
    {"aten.movedim.int", import_movedim},
    {"aten.movedim.intlist", import_movedim},
    {"aten.ravel.default", import_reshape_as_declared},
    {"aten.repeat_interleave.self_int", import_repeat_interleave},
    {"aten.rot90.default", import_rot90},
    {"aten.select_scatter.default", import_select_scatter},
    {"aten.slice_scatter.default", import_slice_scatter},
    {"aten.tensor_split.indices", import_tensor_split},
    {"aten.tensor_split.sections", import_tensor_split},
    {"aten.unfold.default", import_unfold},
    {"aten.unfold_copy.default", import_unfold},
    {"aten.vsplit.array", import_tensor_split},
    {"aten.vsplit.int", import_tensor_split},
    {"aten.vstack.default", import_stack_of},
};
ImportRows rearrangements_rows() { return kRearrangementsRows; }

}  // namespace deuteron::pt2
