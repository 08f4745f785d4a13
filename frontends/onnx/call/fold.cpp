// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/call/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace deuteron::onnx {
namespace {

constexpr i64 kMostFolded = 1 << 20;  // elements: what steers a model is small

struct Ints {
  DType dtype = DType::s64;
  Shape shape;
  std::vector<i64> data;
};
using Operands = std::vector<Ints>;
using Folded = std::optional<Ints>;  // nothing: not folded here, the importer says what is wrong

constexpr i64 kMostRead = 4 * kMostFolded;  // by one operator

// What is larger is torch's operators' to compute, and to refuse.
bool is_small(const Shape& shape) {
  return !pt2::fault_of_size(shape, 0) && numel(shape) <= kMostFolded;
}

// Wrapping, as processors compute: overflow is no undefined behaviour.
i64 wrapped(uint64_t v) { return static_cast<i64>(v); }

i64 divided(i64 a, i64 b) { return b == -1 ? wrapped(0 - static_cast<uint64_t>(a)) : a / b; }
i64 remainder_of(i64 a, i64 b) {
  if (b == -1) return 0;
  const i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct Binary {
  std::string_view op;
  i64 (*apply)(i64, i64);
  bool is_truth, divides = false;
};
constexpr Binary kBinary[] = {
    {"Add",
     [](i64 a, i64 b) { return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); },
     false},
    {"And", [](i64 a, i64 b) { return i64{a && b}; }, true},
    {"Div", divided, false, true},
    {"Equal", [](i64 a, i64 b) { return i64{a == b}; }, true},
    {"Greater", [](i64 a, i64 b) { return i64{a > b}; }, true},
    {"GreaterOrEqual", [](i64 a, i64 b) { return i64{a >= b}; }, true},
    {"Less", [](i64 a, i64 b) { return i64{a < b}; }, true},
    {"LessOrEqual", [](i64 a, i64 b) { return i64{a <= b}; }, true},
    {"Max", [](i64 a, i64 b) { return std::max(a, b); }, false},
    {"Min", [](i64 a, i64 b) { return std::min(a, b); }, false},
    {"Mod", remainder_of, false, true},
    {"Mul",
     [](i64 a, i64 b) { return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); },
     false},
    {"Or", [](i64 a, i64 b) { return i64{a || b}; }, true},
    {"Sub",
     [](i64 a, i64 b) { return wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); },
     false},
    {"Xor", [](i64 a, i64 b) { return i64{(a != 0) != (b != 0)}; }, true},
};

// Element `at` of a tensor of shape `to` lies here in one of shape `from`, which broadcasts to it.
i64 source_of(i64 at, const Shape& to, const Shape& from) {
  i64 index = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t axis = to.size() - 1 - k;
    const i64 position = at % to[axis];
    at /= to[axis];
    if (k >= from.size()) continue;
    const i64 extent = from[from.size() - 1 - k];
    index += (extent == 1 ? 0 : position) * stride;
    stride *= extent;
  }
  return index;
}

std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  Shape y(std::max(a.size(), b.size()));
  for (size_t k = 0; k < y.size(); ++k) {
    const i64 ea = k < a.size() ? a[a.size() - 1 - k] : 1,
              eb = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (ea != eb && ea != 1 && eb != 1) return std::nullopt;
    y[y.size() - 1 - k] = ea == 1 ? eb : ea;
  }
  return is_small(y) ? std::optional(y) : std::nullopt;
}

Folded expanded(const Ints& x, const Shape& to) {
  const auto shape = common_shape(x.shape, to);
  if (!shape) return std::nullopt;
  Ints y{x.dtype, *shape, std::vector<i64>(static_cast<size_t>(numel(*shape)))};
  for (size_t k = 0; k < y.data.size(); ++k)
    y.data[k] = x.data[static_cast<size_t>(source_of(static_cast<i64>(k), y.shape, x.shape))];
  return y;
}

Folded binary(const Binary& row, const Ints& a, const Ints& b) {
  const auto shape = common_shape(a.shape, b.shape);
  if (!shape) return std::nullopt;
  const Folded left = expanded(a, *shape), right = expanded(b, *shape);
  if (row.divides && std::find(right->data.begin(), right->data.end(), 0) != right->data.end())
    return std::nullopt;
  Ints y{row.is_truth ? DType::b8 : a.dtype, *shape, {}};
  std::transform(left->data.begin(), left->data.end(), right->data.begin(),
                 std::back_inserter(y.data), row.apply);
  return y;
}

// Moves along one axis: [outer, extent, inner].
struct Split {
  i64 outer = 1, extent = 1, inner = 1;
};
Split split_at(const Shape& shape, i64 axis) {
  Split s;
  for (i64 k = 0; k < static_cast<i64>(shape.size()); ++k)
    (k < axis ? s.outer : k == axis ? s.extent : s.inner) *= shape[k];
  return s;
}

Folded picked(const Ints& x, i64 axis, const std::vector<i64>& positions) {
  const Split s = split_at(x.shape, axis);
  Ints y{x.dtype, x.shape, {}};
  y.shape[axis] = static_cast<i64>(positions.size());
  if (!is_small(y.shape)) return std::nullopt;
  for (i64 o = 0; o < s.outer; ++o)
    for (const i64 at : positions)
      for (i64 i = 0; i < s.inner; ++i)
        y.data.push_back(x.data[static_cast<size_t>((o * s.extent + at) * s.inner + i)]);
  return y;
}

Folded gather(Call& c, const Operands& in) {
  if (in.size() != 2 || in[0].shape.empty()) return std::nullopt;
  const i64 axis = c.axis(c.integer("axis", 0), static_cast<i64>(in[0].shape.size()));
  if (!c.ok()) return std::nullopt;
  const i64 extent = in[0].shape[axis];
  std::vector<i64> positions = in[1].data;
  for (i64& p : positions) {
    if (p < -extent || p >= extent) return std::nullopt;
    if (p < 0) p += extent;
  }
  Folded y = picked(in[0], axis, positions);
  if (!y) return std::nullopt;
  y->shape.erase(y->shape.begin() + axis);
  y->shape.insert(y->shape.begin() + axis, in[1].shape.begin(), in[1].shape.end());
  return y;
}

Folded concat(Call& c, const Operands& in) {
  const i64 rank = static_cast<i64>(in[0].shape.size()), axis = c.axis(c.integer("axis", 0), rank);
  if (!c.ok() || rank == 0) return std::nullopt;
  Ints y{in[0].dtype, in[0].shape, {}};
  y.shape[axis] = 0;
  for (const Ints& x : in) {
    if (x.shape.size() != in[0].shape.size()) return std::nullopt;
    for (i64 k = 0; k < rank; ++k)
      if (k != axis && x.shape[k] != in[0].shape[k]) return std::nullopt;
    y.shape[axis] += x.shape[axis];
  }
  if (!is_small(y.shape)) return std::nullopt;
  const i64 outer = split_at(y.shape, axis).outer;
  for (i64 o = 0; o < outer; ++o)
    for (const Ints& x : in) {
      const i64 each = static_cast<i64>(x.data.size()) / std::max<i64>(outer, 1);
      y.data.insert(y.data.end(), x.data.begin() + o * each, x.data.begin() + (o + 1) * each);
    }
  return y;
}

Folded slice(Call& c, const Operands& in) {
  if (in.size() < 3) return std::nullopt;
  Ints y = in[0];
  const i64 rank = static_cast<i64>(y.shape.size());
  if (static_cast<i64>(in[1].data.size()) > rank) return std::nullopt;
  for (size_t k = 0; k < in[1].data.size(); ++k) {
    if (k >= in[2].data.size() || (in.size() > 3 && k >= in[3].data.size()) ||
        (in.size() > 4 && k >= in[4].data.size()))
      return std::nullopt;
    const i64 axis = c.axis(in.size() > 3 ? in[3].data[k] : static_cast<i64>(k), rank),
              step = in.size() > 4 ? in[4].data[k] : 1;
    if (!c.ok() || rank == 0) return std::nullopt;
    const auto positions = slice_positions(in[1].data[k], in[2].data[k], step, y.shape[axis]);
    if (!positions) return std::nullopt;
    Folded part = picked(y, axis, *positions);
    if (!part) return std::nullopt;
    y = *std::move(part);
  }
  return y;
}

// A view has the elements of the operand in another shape.
Folded viewed(const Ints& x, Shape shape) {
  if (numel(shape) != static_cast<i64>(x.data.size())) return std::nullopt;
  return Ints{x.dtype, std::move(shape), x.data};
}

Folded reshape(Call& c, const Operands& in) {
  if (in.size() != 2) return std::nullopt;
  Shape shape = in[1].data;
  i64 open = -1, known = 1;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && c.integer("allowzero", 0) == 0)
      shape[k] = k < in[0].shape.size() ? in[0].shape[k] : -2;
    if (shape[k] == -1 && open < 0) open = static_cast<i64>(k);
    else if (shape[k] < 0 || shape[k] > kMostFolded) return std::nullopt;
    else known *= std::max<i64>(shape[k], 1);
    if (known > kMostFolded) return std::nullopt;
  }
  if (open >= 0) shape[open] = static_cast<i64>(in[0].data.size()) / known;
  return viewed(in[0], std::move(shape));
}

std::optional<std::vector<i64>> axes_given(Call& c, const Operands& in, i64 rank) {
  std::vector<i64> axes = in.size() > 1 ? in[1].data : c.integers("axes");
  axes = c.axes(std::move(axes), rank);
  return c.ok() ? std::optional(axes) : std::nullopt;
}

Folded unsqueeze(Call& c, const Operands& in) {
  const size_t count = in.size() > 1 ? in[1].data.size() : c.integers("axes").size();
  if (static_cast<i64>(in[0].shape.size() + count) > kMostAxes) return std::nullopt;
  auto axes = axes_given(c, in, static_cast<i64>(in[0].shape.size() + count));
  if (!axes) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  Shape shape = in[0].shape;
  for (const i64 axis : *axes) shape.insert(shape.begin() + axis, 1);
  return viewed(in[0], std::move(shape));
}

Folded squeeze(Call& c, const Operands& in) {
  const auto axes = axes_given(c, in, static_cast<i64>(in[0].shape.size()));
  if (!axes) return std::nullopt;
  Shape shape;
  for (size_t k = 0; k < in[0].shape.size(); ++k)
    if (in[0].shape[k] != 1 || (!axes->empty() && std::find(axes->begin(), axes->end(),
                                                            static_cast<i64>(k)) == axes->end()))
      shape.push_back(in[0].shape[k]);
  return viewed(in[0], std::move(shape));
}

Folded transpose(Call& c, const Operands& in) {
  const Ints& x = in[0];
  const size_t rank = x.shape.size();
  std::vector<i64> order = c.integers("perm");
  for (size_t k = order.size(); k < rank && (order.empty() || order.size() == k); ++k)
    order.push_back(static_cast<i64>(rank - 1 - k));
  order = c.axes(std::move(order), static_cast<i64>(rank));
  if (!c.ok() || order.size() != rank) return std::nullopt;
  std::vector<i64> strides(rank, 1);
  for (size_t k = rank; k-- > 1;) strides[k - 1] = strides[k] * x.shape[k];
  Ints y{x.dtype, {}, {}};
  for (const i64 axis : order) y.shape.push_back(x.shape[axis]);
  for (size_t at = 0; at < x.data.size(); ++at) {
    i64 rest = static_cast<i64>(at), from = 0;
    for (size_t k = rank; k-- > 0; rest /= y.shape[k])
      from += rest % y.shape[k] * strides[order[k]];
    y.data.push_back(x.data[static_cast<size_t>(from)]);
  }
  return y;
}

Folded chosen(const Operands& in) {
  if (in.size() != 3) return std::nullopt;
  auto shape = common_shape(in[0].shape, in[1].shape);
  if (shape) shape = common_shape(*shape, in[2].shape);
  if (!shape) return std::nullopt;
  const Folded mask = expanded(in[0], *shape), yes = expanded(in[1], *shape),
               no = expanded(in[2], *shape);
  Ints y{in[1].dtype, *shape, {}};
  for (size_t k = 0; k < mask->data.size(); ++k)
    y.data.push_back(mask->data[k] ? yes->data[k] : no->data[k]);
  return y;
}

// Over all elements: what products of extents are made with.
Folded reduced(Call& c, const Operands& in) {
  if (in.size() > 1 || c.has_attribute("axes") || in[0].data.empty()) {
    if (in[0].shape.size() != 1 || in[0].data.empty())
      return std::nullopt;  // over the only axis is over all
  }
  const std::vector<i64>& v = in[0].data;
  const std::string_view op = c.op();
  i64 y = v[0];
  for (size_t k = 1; k < v.size(); ++k)
    y = op == "ReduceMax"    ? std::max(y, v[k])
        : op == "ReduceMin"  ? std::min(y, v[k])
        : op == "ReduceProd" ? wrapped(static_cast<uint64_t>(y) * static_cast<uint64_t>(v[k]))
                             : wrapped(static_cast<uint64_t>(y) + static_cast<uint64_t>(v[k]));
  return Ints{in[0].dtype, c.integer("keepdims", 1) ? Shape(in[0].shape.size(), 1) : Shape{}, {y}};
}

Folded cast(Call& c, const Operands& in) {
  const auto to = dtype_of(static_cast<Element>(c.integer("to", 0)));
  if (to != DType::s64 && to != DType::s32 && to != DType::b8) return std::nullopt;
  Ints y = in[0];
  y.dtype = *to;
  for (i64& v : y.data) v = to == DType::b8 ? v != 0 : to == DType::s32 ? static_cast<i32>(v) : v;
  return y;
}

struct Row {
  std::string_view op;
  Folded (*fold)(Call&, const Operands&);
};
constexpr Row kRows[] = {
    {"Abs",
     [](Call&, const Operands& in) -> Folded {
       Ints y = in[0];
       for (i64& v : y.data) v = v < 0 ? wrapped(0 - static_cast<uint64_t>(v)) : v;
       return y;
     }},
    {"Cast", cast},
    {"Concat", concat},
    {"Expand",
     [](Call&, const Operands& in) {
       return in.size() == 2 ? expanded(in[0], in[1].data) : std::nullopt;
     }},
    {"Gather", gather},
    {"Neg",
     [](Call&, const Operands& in) -> Folded {
       Ints y = in[0];
       for (i64& v : y.data) v = wrapped(0 - static_cast<uint64_t>(v));
       return y;
     }},
    {"Not",
     [](Call&, const Operands& in) -> Folded {
       Ints y = in[0];
       for (i64& v : y.data) v = v == 0;
       return y;
     }},
    {"ReduceMax", reduced},
    {"ReduceMin", reduced},
    {"ReduceProd", reduced},
    {"ReduceSum", reduced},
    {"Reshape", reshape},
    {"Slice", slice},
    {"Squeeze", squeeze},
    {"Transpose", transpose},
    {"Unsqueeze", unsqueeze},
    {"Where", [](Call&, const Operands& in) { return chosen(in); }},
};

Folded folded(Call& c, const Operands& in) {
  for (const Binary& row : kBinary)
    if (row.op == c.op() && in.size() == 2) return binary(row, in[0], in[1]);
  for (const Row& row : kRows)
    if (row.op == c.op()) return row.fold(c, in);
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<i64>> slice_positions(i64 start, i64 end, i64 step, i64 extent) {
  if (step == 0 || extent > kMostSliced) return std::nullopt;
  const auto counted = [extent](i64 v) {
    return v < 0 ? std::max<i64>(v, -extent - 1) + extent : std::min(v, extent);
  };
  i64 at = counted(start);
  const i64 last = counted(end);
  std::vector<i64> positions;
  if (step > 0) {
    for (at = std::max<i64>(at, 0); at < last; at += std::min(step, extent))
      positions.push_back(at);
  } else {
    for (at = std::min(at, extent - 1); at > last && at >= 0; at += std::max(step, -extent))
      positions.push_back(at);
  }
  return positions;
}

bool fold_integers(Call& c) {
  Operands in;
  i64 read = 0;
  for (size_t k = 0; k < c.operands(); ++k) {
    if (!c.has(k)) return false;
    const Operand x = c.operand(k);
    const DType dtype = c.dtype(x);
    if (dtype != DType::s64 && dtype != DType::s32 && dtype != DType::b8) return false;
    read += numel(c.shape(x));
    if (read > kMostRead) return false;
    auto data = c.known_integers(x);
    if (!data || static_cast<i64>(data->size()) > kMostFolded) return false;
    in.push_back({dtype, c.shape(x), std::move(*data)});
  }
  if (in.empty() || c.results() != 1) return false;
  Folded y = folded(c, in);
  if (!c.ok() || !y || !c.may_make(numel(y->shape))) return false;
  c.result(c.known("", {y->dtype, std::move(y->shape), {}}, y->data));
  return true;
}

}  // namespace deuteron::onnx
