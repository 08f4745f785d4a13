// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/broadcast_rules.h"

#include <algorithm>
#include <cstring>

#include "ops/common/broadcast.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// Constants up to this many bytes are repeated in the file rather than at run time.
constexpr i64 kMostRepeatedBytes = 65536;

Shape aligned(const Shape& shape, size_t rank) {
  Shape full(rank, 1);
  std::copy(shape.begin(), shape.end(), full.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return full;
}

// With TFLite's arithmetic: these kernels take equal shapes. Other int16 sums of unequal shapes
// stay in float.
bool is_int16_sum_or_product(const Graph& g, NodeId root) {
  const bool is_int16 =
      g.numerics == Numerics::tflite && g.type(g.nodes[root].outputs[0]).dtype == DType::s16;
  return is_int16 && (op_as<Add>(g, root) || op_as<Mul>(g, root));
}

// What a kernel can do by itself, perhaps seen under another shape.
bool is_native(const Graph& g, NodeId root, const Shape& a, const Shape& b, const Shape& y) {
  if (a == b) return true;
  if (op_as<Div>(g, root)) return false;
  if (is_int16_sum_or_product(g, root)) return false;
  if (op_as<Minimum>(g, root) || op_as<Maximum>(g, root))
    return merged_axes(a, b, y).y.size() <= kMostMergedAxes;
  return (numel(a) == numel(y) && is_repeated_whole(b, y)) ||
         (numel(b) == numel(y) && is_repeated_whole(a, y));
}

Constant repeated(const GraphValue& value, const Shape& y) {
  const std::span<const std::byte> from = value.constant->bytes;
  const Shape full = aligned(value.type.shape, y.size());
  const auto width = static_cast<size_t>(bytes_of(value.type.dtype));
  std::vector<std::byte> to(static_cast<size_t>(numel(y)) * width);
  for (size_t i = 0; i < to.size() / width; ++i) {
    size_t rest = i, at = 0, step = 1;
    for (size_t k = y.size(); k-- > 0;) {
      const size_t index = rest % static_cast<size_t>(y[k]);
      rest /= static_cast<size_t>(y[k]);
      if (full[k] == 1) continue;
      at += index * step;
      step *= static_cast<size_t>(full[k]);
    }
    std::memcpy(&to[i * width], &from[at * width], width);
  }
  return constant_of(std::move(to));
}

// f(a, b) with shapes that no kernel takes   becomes   f(expand(a), b), or f of a constant that is
// repeated in the file
std::optional<Patch> expand_operand(const Graph& g, const Uses&, NodeId root) {
  const Node& node = g.nodes[root];
  const DType dtype = g.type(node.outputs[0]).dtype;
  if (!is_binary(node.op) ||
      (dtype != DType::s8 && !(dtype == DType::s16 && g.numerics == Numerics::tflite)))
    return std::nullopt;
  const Shape &a = g.type(node.inputs[0]).shape, &b = g.type(node.inputs[1]).shape,
              &y = g.type(node.outputs[0]).shape;
  if (is_native(g, root, a, b, y)) return std::nullopt;
  // The one whose repetition lets the kernel do the rest; else the one that moves fewer bytes to
  // its place.
  const auto helps = [&](const Shape& first, const Shape& second) {
    return first != y && is_native(g, root, y, second, y);
  };
  const bool constant_b = g.is_constant(node.inputs[1]);
  size_t k = helps(b, a) && (constant_b || !helps(a, b)) ? 1 : helps(a, b) ? 0 : b != y ? 1 : 0;
  const ValueId v = node.inputs[k];
  PatchBuilder p(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  const Type& type = g.type(v);
  if (g.is_constant(v) && numel(y) * bytes_of(dtype) <= kMostRepeatedBytes) {
    inputs[k] = p.constant(Type{dtype, y, type.quant}, repeated(g.values[v], y), g.values[v].name);
  } else {
    ValueId x = v;
    if (type.rank() != static_cast<i64>(y.size()))
      x = p.add(Reshape{aligned(type.shape, y.size())}, {x}, type.quant);
    inputs[k] = p.add(Expand{y}, {x}, type.quant, g.values[v].name + ".expanded");
  }
  return p.replace_root(node.op, std::move(inputs));
}

// f(a [..,s], b [s])   becomes   f(a [1,n,1,s], b [1,1,1,s]), the one kind of broadcast that the
// kernels of add and mul know
std::optional<Patch> repeat_by_channels(const Graph& g, const Uses&, NodeId root) {
  const Node& node = g.nodes[root];
  if ((!op_as<Add>(g, root) && !op_as<Mul>(g, root)) || g.type(node.outputs[0]).dtype != DType::s8)
    return std::nullopt;
  const Shape &a = g.type(node.inputs[0]).shape, &b = g.type(node.inputs[1]).shape,
              &y = g.type(node.outputs[0]).shape;
  if (kernel_broadcasts(a, b) || !is_native(g, root, a, b, y)) return std::nullopt;
  PatchBuilder p(g, root, "");
  const i64 period = std::min(numel(a), numel(b));
  std::vector<ValueId> inputs;
  for (const ValueId v : node.inputs)
    inputs.push_back(p.add(Reshape{{1, g.type(v).elements() / period, 1, period}}, {v},
                           g.type(v).quant, g.values[v].name));
  const ValueId result = p.add(node.op, std::move(inputs), g.type(node.outputs[0]).quant,
                               g.values[node.outputs[0]].name);
  return p.replace_root(Reshape{y}, {result});
}

}  // namespace

std::span<const Rule> broadcast_rules() {
  static constexpr Rule kRules[] = {expand_operand, repeat_by_channels};
  return kRules;
}

}  // namespace deuteron
