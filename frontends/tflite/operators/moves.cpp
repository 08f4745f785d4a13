// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: shapes, orders, parts and repetitions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"

namespace deuteron::tflite {
namespace {

// The pairs of PAD's operand.
std::vector<std::pair<i64, i64>> read_paddings(Call& c, i64 rank) {
  const std::vector<i64> flat = c.integers(1);
  c.require(static_cast<i64>(flat.size()) == 2 * rank, "has paddings for another number of axes",
            std::to_string(flat.size()), std::to_string(2 * rank), "tflite.pad.rank");
  std::vector<std::pair<i64, i64>> pairs;
  for (size_t k = 0; c.ok() && k < flat.size(); k += 2) {
    for (const i64 v : {flat[k], flat[k + 1]})
      c.require(v >= 0 && v <= 1 << 24, "pads by a number out of range", std::to_string(v),
                fmt::format("0..{}", 1 << 24), "tflite.pad.extent");
    pairs.push_back({flat[k], flat[k + 1]});
  }
  return pairs;
}

// Integers are joined with constants.
void pad_integers(Call& c, i64 value) {
  ValueId x = c.in(0);
  if (!c.ok()) return;
  const auto paddings = read_paddings(c, c.rank(x));
  const auto filled = [&](i64 axis, i64 count) {
    Type type = c.type(x);
    type.shape[axis] = count;
    c.require(type.elements() <= 1 << 20, "pads by a number out of range",
              std::to_string(type.elements()), std::to_string(1 << 20), "tflite.pad.extent");
    const auto n = static_cast<size_t>(c.ok() ? type.elements() : 0);
    return c.constant("pad", type,
                      type.dtype == DType::s64
                          ? constant_of(std::vector<i64>(n, value))
                          : constant_of(std::vector<i32>(n, static_cast<i32>(value))));
  };
  for (size_t k = 0; c.ok() && k < paddings.size(); ++k) {
    const auto axis = static_cast<i64>(k);
    const auto [before, after] = paddings[k];
    std::vector<ValueId> parts{x};
    if (before > 0) parts.insert(parts.begin(), filled(axis, before));
    if (c.ok() && after > 0) parts.push_back(filled(axis, after));
    if (c.ok() && parts.size() > 1) x = c.add(Concat{axis}, parts, fmt::format("padded{}", k));
  }
  c.result(x);
}

void finish_pad(Call& c, float value) {
  const ValueId x = c.real(0);
  if (!c.ok()) return;
  Pad op;
  op.value = value;
  for (const auto& [before, after] : read_paddings(c, c.rank(x)))
    op.before.push_back(before), op.after.push_back(after);
  c.result(c.add(op, {x}));
}

// The results lie one behind the other along `axis`.
void finish_split(Call& c, ValueId x, i64 axis, const std::vector<i64>& sizes) {
  if (!c.ok()) return;
  const i64 total = std::accumulate(sizes.begin(), sizes.end(), i64{0});
  c.require(total == c.shape(x)[axis] &&
                std::all_of(sizes.begin(), sizes.end(), [](i64 s) { return s >= 1; }),
            "has parts that do not make up the axis", to_text(sizes),
            std::to_string(c.shape(x)[axis]), "tflite.split.sizes");
  c.require(sizes.size() == c.results(), "has another number of results than parts",
            std::to_string(c.results()), std::to_string(sizes.size()), "tflite.operator.results");
  i64 start = 0;
  for (size_t k = 0; c.ok() && k < sizes.size(); start += sizes[k++])
    c.result(k, part(c, x, axis, start, sizes[k], 1, fmt::format("part{}", k)));
}

}  // namespace

// The result's shape says it all: the operand that repeats it is not asked.
static void import_reshape(Call& c) {
  c.takes(1, 2);
  const bool is_complex = c.is_complex(0);
  const Call::Complex z = is_complex ? c.complex(0) : Call::Complex{c.in(0), -1};
  const ValueId x = z.real;
  if (!c.ok()) return;
  const Shape& to = c.declared_result(0).shape;
  c.require(numel(to) == c.type(x).elements(), "has a result of another number of elements",
            std::to_string(numel(to)), std::to_string(c.type(x).elements()),
            "tflite.reshape.elements");
  if (!c.ok()) return;
  if (!is_complex) return c.result(c.reshape(x, to));
  c.complex_result({c.reshape(x, to), c.reshape(z.imaginary, to, "imaginary")});
}

static void import_transpose(Call& c) {
  c.takes(2, 2);
  const ValueId x = c.in(0);
  Axes perm = c.integers(1);
  if (!c.ok()) return;
  for (i64& a : perm) a = c.axis(a, c.rank(x));
  Axes sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  Axes all(static_cast<size_t>(c.rank(x)));
  std::iota(all.begin(), all.end(), 0);
  c.require(sorted == all, "does not name each axis once", to_text(perm), to_text(all),
            "tflite.transpose.axes");
  c.result(c.permute(x, std::move(perm)));
}

static void import_concatenation(Call& c) {
  const auto* o = c.options<ConcatenationOptions>();
  c.takes(1, 1 << 12);
  if (!c.ok()) return;
  c.require(o->fused_activation_function() == ActivationFunctionType::NONE,
            "has a fused activation", "", "", "tflite.operator.activation");
  std::vector<ValueId> parts;
  for (size_t i = 0; i < c.operands(); ++i)
    if (!c.is_empty(i)) parts.push_back(c.in(i));
  if (!c.ok()) return;
  if (parts.empty()) return c.leave_empty();
  make_one_type(c, parts);
  if (c.ok() && parts.size() > 1)
    parts = {c.add(Concat{c.axis(o->axis(), c.rank(parts[0]))}, parts)};
  if (c.ok()) c.result(parts[0]);
}

static void import_pack(Call& c) {
  const auto* o = c.options<PackOptions>();
  c.takes(1, 1 << 12);
  if (!c.ok()) return;
  std::vector<ValueId> parts;
  const i64 axis = c.axis(o->axis(), static_cast<i64>(c.declared(0).shape.size()) + 1);
  for (size_t i = 0; i < c.operands() && c.ok(); ++i) {
    const ValueId x = c.in(i);
    if (!c.ok()) return;
    Shape shape = c.shape(x);
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(c.reshape(x, std::move(shape), fmt::format("part{}", i)));
  }
  make_one_type(c, parts);
  if (c.ok()) c.result(c.add(Concat{axis}, parts));
}

static void import_unpack(Call& c) {
  const auto* o = c.options<UnpackOptions>();
  c.takes(1, 1, c.results());
  const ValueId x = c.in(0);
  if (!c.ok()) return;
  const i64 axis = c.axis(o->axis(), c.rank(x));
  c.require(!c.ok() || static_cast<i64>(c.results()) == c.shape(x)[axis],
            "has another number of results than parts", std::to_string(c.results()),
            c.ok() ? std::to_string(c.shape(x)[axis]) : "", "tflite.operator.results");
  for (size_t k = 0; c.ok() && k < c.results(); ++k) {
    Shape shape = c.shape(x);
    shape.erase(shape.begin() + axis);
    const ValueId one = part(c, x, axis, static_cast<i64>(k), 1, 1, fmt::format("slice{}", k));
    c.result(k, c.reshape(one, std::move(shape), fmt::format("part{}", k)));
  }
}

static void import_split(Call& c) {
  c.takes(2, 2, c.results());
  const ValueId x = c.in(1);
  const i64 axis = c.axis(scalar(c, 0), c.rank(x)), parts = static_cast<i64>(c.results());
  c.require(!c.ok() || (parts > 0 && c.shape(x)[axis] % parts == 0),
            "does not split into equal parts", std::to_string(parts),
            c.ok() ? std::to_string(c.shape(x)[axis]) : "", "tflite.split.sizes");
  if (c.ok())
    finish_split(c, x, axis,
                 std::vector<i64>(static_cast<size_t>(parts), c.shape(x)[axis] / parts));
}

static void import_split_v(Call& c) {
  c.takes(3, 3, c.results());
  const ValueId x = c.in(0);
  std::vector<i64> sizes = c.integers(1);
  const i64 axis = c.axis(scalar(c, 2), c.rank(x));
  if (!c.ok()) return;
  i64 rest = c.shape(x)[axis];
  for (const i64 s : sizes)
    c.require(s >= -1 && s <= c.shape(x)[axis], "has a part that the axis does not have",
              std::to_string(s), fmt::format("-1..{}", c.shape(x)[axis]), "tflite.split.sizes");
  if (!c.ok()) return;
  for (const i64 s : sizes) rest -= std::max<i64>(s, 0);
  for (i64& s : sizes)
    if (s == -1) s = rest, rest = 0;
  finish_split(c, x, axis, sizes);
}

static void import_slice(Call& c) {
  c.takes(3, 3);
  ValueId x = c.in(0);
  const std::vector<i64> begin = c.integers(1), size = c.integers(2);
  c.require(!c.ok() || (static_cast<i64>(begin.size()) == c.rank(x) && begin.size() == size.size()),
            "slices another number of axes", fmt::format("{}, {}", begin.size(), size.size()),
            std::to_string(c.rank(x)), "tflite.slice.axes");
  for (size_t k = 0; c.ok() && k < begin.size(); ++k) {
    const i64 extent = c.shape(x)[k], first = std::clamp<i64>(begin[k], 0, extent),
              count = size[k] == -1 ? extent - first : size[k];
    c.require(begin[k] >= 0 && count >= 0 && begin[k] <= extent && count <= extent - first,
              "slices what its operand does not have",
              fmt::format("{} elements from {}", count, begin[k]), fmt::format("0..{}", extent - 1),
              "tflite.slice.range");
    if (count == 0) return c.leave_empty();
    x = part(c, x, static_cast<i64>(k), begin[k], count, 1, fmt::format("axis{}", k));
  }
  c.result(x);
}

static void import_strided_slice(Call& c) {
  const auto* o = c.options<StridedSliceOptions>();
  c.takes(4, 4);
  ValueId x = c.in(0);
  const std::vector<i64> begin = c.integers(1), end = c.integers(2), step = c.integers(3);
  if (!c.ok()) return;
  c.require(o->ellipsis_mask() == 0 && o->new_axis_mask() == 0 && !o->offset(),
            "has an ellipsis, a new axis or an offset", "", "", "tflite.strided_slice.mask");
  c.require(begin.size() == end.size() && end.size() == step.size() &&
                static_cast<i64>(begin.size()) <= c.rank(x),
            "slices another number of axes", std::to_string(begin.size()),
            fmt::format("0..{}", c.rank(x)), "tflite.slice.axes");
  for (size_t k = 0; c.ok() && k < begin.size(); ++k) {
    const i64 extent = c.shape(x)[k], by = step[k];
    const auto masked = [&](i32 mask) { return (mask >> k & 1) != 0; };
    c.require(by != 0 && by >= -(1 << 24) && by <= 1 << 24, "slices with a step out of range",
              std::to_string(by), "not 0", "tflite.slice.step");
    if (!c.ok()) return;
    const i64 lowest = by > 0 ? 0 : -1, most = by > 0 ? extent : extent - 1;
    const auto inside = [&](i64 v) { return std::clamp(v < 0 ? v + extent : v, lowest, most); };
    const bool single = masked(o->shrink_axis_mask());
    const i64 from =
        masked(o->begin_mask()) && !single ? (by > 0 ? 0 : extent - 1) : inside(begin[k]);
    const i64 to = single                  ? from + 1
                   : masked(o->end_mask()) ? (by > 0 ? extent : -1)
                                           : inside(end[k]);
    const i64 stride = single ? 1 : by, count = stride > 0 ? (to - from + stride - 1) / stride
                                                           : (from - to - stride - 1) / -stride;
    c.require(count >= 1 && from >= 0 && from < extent, "has a part without elements",
              fmt::format("{}..{} by {}", begin[k], end[k], by), fmt::format("0..{}", extent - 1),
              "tflite.slice.range");
    x = part(c, x, static_cast<i64>(k), from, count, stride, fmt::format("axis{}", k));
  }
  const Shape& to = c.declared_result(0).shape;
  c.require(!c.ok() || numel(to) == c.type(x).elements(),
            "has a result of another shape than the file says: it is damaged", to_text(to),
            to_text(c.shape(x)), "tflite.result.shape");
  c.result(c.reshape(x, to, "shrunk"));
}

static void import_pad(Call& c) {
  c.takes(2, 2);
  if (c.ok() && is_of_integers(c, 0)) return pad_integers(c, 0);
  finish_pad(c, 0);
}

static void import_pad_v2(Call& c) {
  c.takes(3, 3);
  if (c.ok() && is_of_integers(c, 0)) return pad_integers(c, scalar(c, 2));
  const std::vector<float> value = c.numbers(2);
  c.require(value.size() == 1, "pads with more than one value", std::to_string(value.size()), "1",
            "tflite.operand.scalar");
  if (c.ok()) finish_pad(c, value[0]);
}

static void import_mirror_pad(Call& c) {
  const auto* o = c.options<MirrorPadOptions>();
  c.takes(2, 2);
  ValueId x = c.in(0);
  if (!c.ok()) return;
  const i64 skipped = o->mode() == MirrorPadMode::REFLECT ? 1 : 0;
  const auto paddings = read_paddings(c, c.rank(x));
  for (size_t k = 0; c.ok() && k < paddings.size(); ++k) {
    const i64 extent = c.shape(x)[k];
    const auto [before, after] = paddings[k];
    c.require(std::max(before, after) <= extent - skipped, "mirrors more than there is",
              std::to_string(std::max(before, after)), std::to_string(extent - skipped),
              "tflite.pad.extent");
    if (!c.ok() || !can_pick(c, extent)) return;
    Axes index;
    for (i64 at = -before; at < extent + after; ++at)
      index.push_back(at < 0        ? -at - 1 + skipped
                      : at < extent ? at
                                    : 2 * extent - 1 - skipped - at);
    x = picked(c, x, static_cast<i64>(k), std::move(index), fmt::format("axis{}", k));
  }
  c.result(x);
}

static void import_reverse_v2(Call& c) {
  c.takes(2, 2);
  ValueId x = c.in(0);
  for (const i64 axis : c.axes(1, c.rank(x))) {
    if (!can_pick(c, c.shape(x)[axis])) return;
    Axes index(static_cast<size_t>(c.shape(x)[axis]));
    std::iota(index.rbegin(), index.rend(), 0);
    x = picked(c, x, axis, std::move(index), fmt::format("axis{}", axis));
  }
  c.result(x);
}

static void import_tile(Call& c) {
  c.takes(2, 2);
  ValueId x = c.in(0);
  const std::vector<i64> times = c.integers(1);
  c.require(!c.ok() || static_cast<i64>(times.size()) == c.rank(x),
            "repeats another number of axes", std::to_string(times.size()),
            std::to_string(c.rank(x)), "tflite.tile.axes");
  for (size_t k = 0; c.ok() && k < times.size(); ++k) {
    const i64 extent = c.shape(x)[k];
    c.require(times[k] >= 1 && times[k] <= (1 << 20) / extent, "repeats out of range",
              std::to_string(times[k]), fmt::format("1..{}", std::max<i64>(1, (1 << 20) / extent)),
              "tflite.tile.times");
    Axes index;
    for (i64 at = 0; c.ok() && at < times[k] * extent; ++at) index.push_back(at % extent);
    x = picked(c, x, static_cast<i64>(k), std::move(index), fmt::format("axis{}", k));
  }
  c.result(x);
}

static constexpr ImportRow kMovesRows[] = {
    {BuiltinOperator::CONCATENATION, import_concatenation, Int16::taken},
    {BuiltinOperator::EXPAND_DIMS, import_reshape, Int16::taken},
    {BuiltinOperator::MIRROR_PAD, import_mirror_pad, Int16::taken},
    {BuiltinOperator::PACK, import_pack, Int16::taken},
    {BuiltinOperator::PAD, import_pad, Int16::taken},
    {BuiltinOperator::PADV2, import_pad_v2, Int16::taken},
    {BuiltinOperator::RESHAPE, import_reshape, Int16::taken},
    {BuiltinOperator::REVERSE_V2, import_reverse_v2, Int16::taken},
    {BuiltinOperator::SLICE, import_slice, Int16::taken},
    {BuiltinOperator::SPLIT, import_split, Int16::taken},
    {BuiltinOperator::SPLIT_V, import_split_v, Int16::taken},
    {BuiltinOperator::SQUEEZE, import_reshape, Int16::taken},
    {BuiltinOperator::STRIDED_SLICE, import_strided_slice, Int16::taken},
    {BuiltinOperator::TILE, import_tile, Int16::taken},
    {BuiltinOperator::TRANSPOSE, import_transpose, Int16::taken},
    {BuiltinOperator::UNPACK, import_unpack, Int16::taken},
};
ImportRows moves_rows() { return kMovesRows; }

}  // namespace deuteron::tflite
