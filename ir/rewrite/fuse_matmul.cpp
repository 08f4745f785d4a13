// SPDX-License-Identifier: Apache-2.0
// A factor before or behind a matrix product is part of its multiplier, and what several of its
// matrices share is read where it is.
#include <cmath>

#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/view_rules.h"

namespace deuteron {
namespace {

// `v` times one positive number: the operand and the number.
struct Scaled {
  ValueId x;
  float factor;
};
std::optional<Scaled> scaled_by_number(const Graph& g, const Uses& uses, ValueId v) {
  const NodeId n = uses.producer[v];
  if (n < 0 || !uses.has_single_reader(v)) return std::nullopt;
  if (const Pointwise* p = op_as<Pointwise>(g, n)) {
    const auto line = line_of(p->program);
    const float factor = line ? static_cast<float>(line->slope) : 0;
    if (!line || line->offset != 0 || !(factor > 0) || !std::isfinite(factor)) return std::nullopt;
    return Scaled{g.nodes[n].inputs[0], factor};
  }
  if (!op_as<Mul>(g, n)) return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    const ValueId number = g.nodes[n].inputs[k], x = g.nodes[n].inputs[1 - k];
    if (!g.is_constant(number) || g.type(number).dtype != DType::f32 ||
        g.type(number).elements() != 1)
      continue;
    const float factor = g.values[number].constant->as<float>()[0];
    if (factor > 0 && std::isfinite(factor) && g.type(x) == g.type(v)) return Scaled{x, factor};
  }
  return std::nullopt;
}

bool is_factor(float f) { return std::isfinite(f) && f > 0; }

// The reshapes and permutes that lead to a value, nobody else reading between, and where they
// begin.
struct Path {
  ValueId from;
  std::vector<NodeId> views;
};
Path through_views(const Graph& g, const Uses& uses, ValueId v) {
  Path path{v, {}};
  while (uses.has_single_reader(path.from) && uses.producer[path.from] >= 0 &&
         is_view(g.nodes[uses.producer[path.from]].op)) {
    path.views.insert(path.views.begin(), uses.producer[path.from]);
    path.from = g.nodes[uses.producer[path.from]].inputs[0];
  }
  return path;
}
ValueId along(PatchBuilder& b, const Graph& g, const Path& path, ValueId v) {
  for (const NodeId n : path.views)
    v = b.add(g.nodes[n].op, {v}, {}, g.values[g.nodes[n].outputs[0]].name);
  return v;
}

}  // namespace

// mul(matmul(x, other), number)   becomes   matmul with that factor; views between them stay
// Refused when somebody else reads the product, and for a number that is not positive.
static std::optional<Patch> fuse_factor_behind_matmul(const Mul&, const Graph& g, const Uses& uses,
                                                      NodeId root) {
  const Node& mul = g.nodes[root];
  for (size_t k = 0; k < 2; ++k) {
    const ValueId number = mul.inputs[k], x = mul.inputs[1 - k];
    if (!g.is_constant(number) || g.type(number).dtype != DType::f32 ||
        g.type(number).elements() != 1)
      continue;
    if (g.type(x) != g.type(mul.outputs[0])) continue;
    const Path path = through_views(g, uses, x);
    const ValueId v = path.from;
    const NodeId above = producer_as<Matmul>(g, uses, v);
    if (above < 0 || !uses.has_single_reader(v) || g.type(v).dtype != DType::f32) continue;
    const Matmul& matmul = std::get<Matmul>(g.nodes[above].op);
    const float factor = matmul.scale * g.values[number].constant->as<float>()[0];
    if (!is_factor(factor)) continue;
    PatchBuilder b(g, root, "fused into the product before it");
    const ValueId y = b.add(Matmul{factor}, g.nodes[above].inputs, {}, g.values[v].name);
    return b.replace_root(along(b, g, path, y));
  }
  return std::nullopt;
}

// matmul(views(mul(x, number)), other)   becomes   matmul with that factor; likewise for the other
// operand
static std::optional<Patch> fuse_factor_before_matmul(const Matmul& matmul, const Graph& g,
                                                      const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  for (size_t k = 0; k < 2; ++k) {
    const Path path = through_views(g, uses, node.inputs[k]);
    const ValueId v = path.from;
    const std::optional<Scaled> scaled = scaled_by_number(g, uses, v);
    if (!scaled || !is_factor(matmul.scale * scaled->factor)) continue;
    PatchBuilder b(g, root, "fused into the product behind it");
    std::vector<ValueId> inputs = node.inputs;
    inputs[k] = along(b, g, path, scaled->x);
    return b.replace_root(Matmul{matmul.scale * scaled->factor}, std::move(inputs));
  }
  return std::nullopt;
}

// matmul(x, other, each of whose matrices stands there n times)   becomes   matmul(x with n times
// the rows, other): heads of attention that share keys and values
static std::optional<Patch> share_repeated_operand(const Matmul& matmul, const Graph& g,
                                                   const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  PatchBuilder b(g, root, "shared by several rows of the product");
  const std::optional<RepeatedValue> other = repeated_value(g, uses, node.inputs[1], b);
  if (!other || other->repeat.axis != 0) return std::nullopt;
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  const i64 times = other->repeat.times;
  const ValueId rows = reshaped(b, node.inputs[0], x.quant,
                                {x.shape[0] / times, times * x.shape[1], x.shape[2]}),
                product =
                    b.add(matmul, {rows, other->base}, y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(reshaped(b, product, y.quant, y.shape));
}

const Rule kFuseFactorBehindMatmul = kRule<fuse_factor_behind_matmul>,
           kFuseFactorBeforeMatmul = kRule<fuse_factor_before_matmul>,
           kShareRepeatedOperand = kRule<share_repeated_operand>;

}  // namespace deuteron
