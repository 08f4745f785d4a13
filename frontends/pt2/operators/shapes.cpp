// SPDX-License-Identifier: Apache-2.0
// Operators that only say how elements are arranged: views, permutes, padding.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/resampling.h"

namespace deuteron::pt2 {
namespace {

// One entry of a wanted shape may be -1: what is left.
Shape resolved(Call& c, std::vector<i64> wanted, i64 elements) {
  i64 known = 1, unknown = -1;
  for (size_t k = 0; c.ok() && k < wanted.size(); ++k) {
    if (wanted[k] == -1 && unknown < 0) {
      unknown = static_cast<i64>(k);
      continue;
    }
    c.require(wanted[k] >= 1 && wanted[k] <= kMaxElements && known * wanted[k] <= kMaxElements,
              "the shape is out of range: " + to_text(wanted), "", "", "pt2.view.shape");
    if (c.ok()) known *= wanted[k];
  }
  if (c.ok() && unknown >= 0) wanted[unknown] = elements / known;
  return wanted;
}

void finish_view(Call& c, ValueId x, Shape shape) {
  c.may_share_memory("self");
  c.result(c.reshape(x, std::move(shape)));
}

void finish_permute(Call& c, ValueId x, Axes perm) {
  c.may_share_memory("self");
  c.result(c.permute(x, std::move(perm)));
}

Axes swapped(i64 rank, i64 a, i64 b) {
  Axes perm(rank);
  for (i64 k = 0; k < rank; ++k) perm[k] = k == a ? b : k == b ? a : k;
  return perm;
}

// torch lists pairs (before, after) from the last axis on.
void finish_pad(Call& c, double value) {
  const ValueId x = c.tensor("self");
  const std::vector<i64> list = c.integers("pad");
  const i64 rank = c.rank(x), pairs = static_cast<i64>(list.size()) / 2;
  c.require(!c.ok() || (list.size() % 2 == 0 && pairs <= rank), "the padding does not fit the axes",
            std::to_string(list.size()), std::to_string(2 * rank), "pt2.pad.count");
  c.require(!c.ok() || std::isfinite(static_cast<float>(value)),
            "pads with a value that is not a finite float32", std::to_string(value), "finite",
            "pt2.pad.value");
  if (!c.ok()) return;
  for (const i64 v : list)
    c.require(v >= -kMaxElements && v <= kMaxElements, "padding is out of range", std::to_string(v),
              std::to_string(kMaxElements), "pt2.pad.range");
  Pad op;
  op.before.assign(rank, 0);
  op.after.assign(rank, 0);
  op.value = static_cast<float>(value);
  for (i64 k = 0; k < pairs; ++k)
    op.before[rank - 1 - k] = list[2 * k], op.after[rank - 1 - k] = list[2 * k + 1];
  const bool changes = std::any_of(list.begin(), list.end(), [](i64 v) { return v != 0; });
  c.result(changes ? padded(c, x, op) : x);
}

}  // namespace

static void import_view(Call& c) {
  const ValueId x = c.any_tensor("self");
  std::vector<i64> wanted = c.integers(c.has("size") ? "size" : "shape");
  finish_view(c, x, resolved(c, std::move(wanted), c.type(x).elements()));
}

static void import_view_as(Call& c) {
  const ValueId x = c.any_tensor("self"), other = c.any_tensor("other");
  finish_view(c, x, c.shape(other));
}

static void import_flatten(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 rank = c.rank(x), first = c.axis("start_dim", rank), last = c.axis("end_dim", rank);
  c.require(!c.ok() || first <= last, "end_dim comes before start_dim", std::to_string(last),
            std::to_string(first), "pt2.flatten.axes");
  if (!c.ok()) return;
  const Shape& in = c.shape(x);
  Shape out;
  i64 merged = 1;
  for (i64 k = 0; k < rank; ++k) {
    if (k < first || k > last) out.push_back(in[k]);
    else merged *= in[k];
    if (k == last) out.push_back(merged);
  }
  if (rank == 0) out = {1};
  finish_view(c, x, std::move(out));
}

static void import_unflatten(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  const std::vector<i64> sizes = c.integers("sizes");
  c.require(!c.ok() || c.rank(x) > 0, "splits an axis of a tensor without axes", "", "",
            "pt2.unflatten.rank");
  if (!c.ok()) return;
  Shape out = c.shape(x);
  const Shape parts = resolved(c, sizes, out[axis]);
  out.erase(out.begin() + axis);
  out.insert(out.begin() + axis, parts.begin(), parts.end());
  finish_view(c, x, std::move(out));
}

// Without `dim` every axis of extent 1 goes, with it the named ones.
static void import_squeeze(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 rank = c.rank(x);
  std::vector<i64> axes;
  const bool all = !c.has("dim");
  if (!all) axes = c.axes("dim", rank);
  if (!c.ok()) return;
  Shape out;
  for (i64 k = 0; k < rank; ++k) {
    const bool named = all || std::find(axes.begin(), axes.end(), k) != axes.end();
    if (!named || c.shape(x)[k] != 1) out.push_back(c.shape(x)[k]);
  }
  finish_view(c, x, std::move(out));
}

static void import_unsqueeze(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 axis = c.axis("dim", c.rank(x) + 1);
  if (!c.ok()) return;
  Shape out = c.shape(x);
  out.insert(out.begin() + axis, 1);
  finish_view(c, x, std::move(out));
}

// The element of memory behind each element of a tensor with these strides; nothing where one lies
// outside of `elements`, or they are many.
static std::optional<Axes> strided_positions(const Shape& size, const std::vector<i64>& strides,
                                             i64 elements) {
  i64 count = 1, last = 0;
  for (size_t k = 0; k < size.size(); ++k) {
    if (strides[k] < 0 || (size[k] > 1 && strides[k] > elements)) return std::nullopt;
    count *= size[k], last += (size[k] - 1) * strides[k];
    if (count > kMostPicked || last >= elements) return std::nullopt;
  }
  Axes positions(static_cast<size_t>(count), 0);
  i64 rows = 1;
  for (size_t k = 0; k < size.size(); ++k) {
    const i64 run = count / (rows * size[k]);
    for (i64 at = 0; at < count; ++at) positions[at] += at / run % size[k] * strides[k];
    rows *= size[k];
  }
  return positions;
}

static void import_permute(Call& c) {
  const ValueId x = c.any_tensor("self");
  Axes perm = c.axes("dims", c.rank(x));
  c.require(!c.ok() || static_cast<i64>(perm.size()) == c.rank(x), "does not name every axis",
            std::to_string(perm.size()), std::to_string(c.rank(x)), "pt2.permute.count");
  finish_permute(c, x, std::move(perm));
}

static void import_transpose(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 rank = c.rank(x);
  const bool is_swapaxes = c.has("axis0");
  const i64 a = c.axis(is_swapaxes ? "axis0" : "dim0", rank),
            b = c.axis(is_swapaxes ? "axis1" : "dim1", rank);
  finish_permute(c, x, swapped(rank, a, b));
}

static void import_t(Call& c) {
  const ValueId x = c.any_tensor("self");
  c.require(!c.ok() || c.rank(x) <= 2, "transposes a tensor that is not a matrix",
            std::to_string(c.rank(x)), "2", "pt2.permute.rank");
  finish_permute(c, x, c.rank(x) == 2 ? Axes{1, 0} : swapped(c.rank(x), 0, 0));
}

static void import_reverse_axes(Call& c) {
  const ValueId x = c.any_tensor("self");
  Axes perm = swapped(c.rank(x), 0, 0);
  std::reverse(perm.begin(), perm.end());
  finish_permute(c, x, std::move(perm));
}

// Reinterprets memory. That changes nothing where the strides are those that the operand has, or
// both are dense in the same order. Of an operand that lies row by row, any other arrangement picks
// elements by their positions: frames of a signal that overlap.
static void import_as_strided(Call& c) {
  const ValueId x = c.any_tensor("self");
  const TensorMeta* m = c.meta("self");
  const Shape size = c.integers("size");
  const std::vector<i64> strides = c.integers("stride");
  const i64 offset = c.has("storage_offset") ? c.integer("storage_offset") : (m ? m->offset : 0);
  if (!c.ok()) return;
  const auto same_strides = [&] {
    for (size_t k = 0; k < size.size(); ++k)
      if (size[k] != 1 && strides[k] != m->strides[k]) return false;
    return true;
  };
  const auto is_plain = [](const Shape& sizes, const std::vector<i64>& s) {
    Axes identity(sizes.size());
    for (size_t k = 0; k < identity.size(); ++k) identity[k] = static_cast<i64>(k);
    return is_dense(sizes, s, identity);
  };
  const bool fits =
      size.size() == strides.size() && offset == m->offset &&
      std::all_of(size.begin(), size.end(), [](i64 e) { return e >= 1 && e <= kMaxElements; });
  const bool same = fits && size == c.shape(x) && m->sizes == size && same_strides();
  const bool dense = fits && m->sizes == c.shape(x) && is_plain(m->sizes, m->strides);
  if (same || (dense && is_plain(size, strides) && numel(size) == c.type(x).elements()))
    return finish_view(c, x, size);
  const auto positions =
      dense ? strided_positions(size, strides, c.type(x).elements()) : std::nullopt;
  c.require(positions.has_value(), "reads memory in another arrangement than the operand has",
            fmt::format("size {}, stride {}, offset {}", to_text(size), to_text(strides), offset),
            fmt::format("size {}, stride {}, offset {}", to_text(m->sizes), to_text(m->strides),
                        m->offset),
            "pt2.as_strided");
  if (!c.ok() || !c.check_declared_shape(0, size)) return;
  c.may_share_memory("self");
  c.result(c.reshape(
      picked(c, c.reshape(x, {c.type(x).elements()}, "row"), 0, *positions, "picked"), size));
}

// -1 keeps an extent; new axes come first.
static void import_expand(Call& c) {
  const ValueId x = c.any_tensor("self");
  std::vector<i64> size = c.integers("size");
  if (!c.ok()) return;
  const Shape& in = c.shape(x);
  c.require(size.size() >= in.size(), "expands to fewer axes than the operand has", to_text(size),
            to_text(in), "pt2.expand.rank");
  if (!c.ok()) return;
  const size_t added = size.size() - in.size();
  for (size_t k = added; k < size.size(); ++k)
    if (size[k] == -1) size[k] = in[k - added];
  i64 elements = 1;
  for (const i64 extent : size) {
    c.require(extent >= 1 && extent <= kMaxElements && elements * extent <= kMaxElements,
              "the shape is out of range", to_text(size), "", "pt2.expand.shape");
    if (!c.ok()) return;
    elements *= extent;
  }
  Shape full(size.size(), 1);
  std::copy(in.begin(), in.end(), full.begin() + static_cast<std::ptrdiff_t>(added));
  if (size == full) return finish_view(c, x, std::move(size));
  c.may_share_memory("self");
  c.result(c.add(Expand{std::move(size)}, {c.reshape(x, std::move(full), "axes")}));
}

static void import_pad(Call& c) {
  const std::string mode = c.text("mode");
  if (mode == "reflect" || mode == "replicate" || mode == "circular")
    return finish_pad_by_elements(c, mode);
  c.require(!c.ok() || mode == "constant", "pads in a way that is not supported", mode,
            "constant, reflect, replicate, circular", "pt2.pad.mode");
  finish_pad(c, c.has("value") ? c.number("value") : 0);
}

static void import_constant_pad(Call& c) { finish_pad(c, c.number("value")); }

static constexpr ImportRow kShapesRows[] = {
    {"aten._reshape_alias.default", import_view},
    {"aten._reshape_copy.default", import_view},
    {"aten._unsafe_view.default", import_view},
    {"aten.as_strided.default", import_as_strided},
    {"aten.as_strided_copy.default", import_as_strided},
    {"aten.broadcast_to.default", import_expand},
    {"aten.constant_pad_nd.default", import_constant_pad},
    {"aten.expand.default", import_expand},
    {"aten.expand_copy.default", import_expand},
    {"aten.flatten.using_ints", import_flatten},
    {"aten.numpy_T.default", import_reverse_axes},
    {"aten.pad.default", import_pad},
    {"aten.permute.default", import_permute},
    {"aten.permute_copy.default", import_permute},
    {"aten.reshape.default", import_view},
    {"aten.reshape_as.default", import_view_as},
    {"aten.squeeze.default", import_squeeze, true, true},
    {"aten.squeeze.dim", import_squeeze, true, true},
    {"aten.squeeze.dims", import_squeeze, true, true},
    {"aten.squeeze_copy.default", import_squeeze},
    {"aten.squeeze_copy.dim", import_squeeze},
    {"aten.squeeze_copy.dims", import_squeeze},
    {"aten.swapaxes.default", import_transpose, true, true},
    {"aten.swapdims.default", import_transpose, true, true},
    {"aten.t.default", import_t, true, true},
    {"aten.t_copy.default", import_t},
    {"aten.transpose.int", import_transpose},
    {"aten.transpose_.default", import_transpose, true, true},
    {"aten.transpose_copy.int", import_transpose},
    {"aten.unflatten.int", import_unflatten},
    {"aten.unsqueeze.default", import_unsqueeze, true, true},
    {"aten.unsqueeze_copy.default", import_unsqueeze},
    {"aten.view.default", import_view},
    {"aten.view_as.default", import_view_as},
    {"aten.view_copy.default", import_view},
};
ImportRows shapes_rows() { return kShapesRows; }

}  // namespace deuteron::pt2
