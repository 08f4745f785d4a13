// SPDX-License-Identifier: Apache-2.0
// What depends on constants alone is computed here, weights get their storage order, and movements
// that undo each other go.
#include <algorithm>

#include "compile/pass.h"
#include "compile/simplify/float_constants.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"

namespace deuteron {

// A repetition larger than this and than what it is made from stays computed: a constant takes
// flash. Arithmetic does not: calibration sees no numbers of what depends on constants alone, so
// that a layer behind it would have no range.
static constexpr i64 kFreeElements = 1024, kMostComputed = i64{1} << 20,
                     kMostRepeated = i64{1} << 25;

// Whether arithmetic on constants alone reads the repetition, perhaps behind more movements: then
// it is computed too, and this one takes no flash. A norm of a weight is repeated before the weight
// is divided by it.
static bool is_read_by_constants(const Graph& g, const Uses& uses, ValueId v) {
  if (uses.output_uses[v] != 0 || uses.readers[v].empty()) return false;
  return std::all_of(uses.readers[v].begin(), uses.readers[v].end(), [&](NodeId id) {
    const Node& reader = g.nodes[id];
    if (reader.outputs.size() != 1 || is_quantize_or_dequantize(reader.op) ||
        g.type(reader.outputs[0]).dtype != DType::f32)
      return false;
    if (is_movement(reader.op))
      return reader.inputs.size() == 1 && is_read_by_constants(g, uses, reader.outputs[0]);
    return std::all_of(reader.inputs.begin(), reader.inputs.end(), [&](ValueId in) {
      return in == v || (g.is_constant(in) && g.type(in).dtype == DType::f32);
    });
  });
}

// Of a result that is larger than the operands.
static i64 most_elements(const Graph& g, const Uses& uses, const Node& node) {
  if (!is_movement(node.op)) return kMostComputed;
  return is_read_by_constants(g, uses, node.outputs[0]) ? kMostRepeated : kFreeElements;
}

// f(constant, ..)   becomes   constant
static std::optional<Patch> evaluate(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.outputs.size() != 1 || node.inputs.empty() || is_quantize_or_dequantize(node.op))
    return std::nullopt;
  i64 elements = 0;
  std::vector<HostTensor> in;
  std::vector<std::vector<float>> copies;
  for (const ValueId v : node.inputs) {
    if (!g.is_constant(v) || g.type(v).dtype != DType::f32) return std::nullopt;
    elements += g.type(v).elements();
  }
  const Type& y = g.type(node.outputs[0]);
  if (y.dtype != DType::f32) return std::nullopt;
  if (y.elements() > elements && y.elements() > most_elements(g, uses, node)) return std::nullopt;
  for (const ValueId v : node.inputs) {
    const std::span<const float> data = g.values[v].constant->as<float>();
    copies.emplace_back(data.begin(), data.end());
  }
  for (size_t k = 0; k < copies.size(); ++k)
    in.push_back({&g.type(node.inputs[k]), copies[k].data()});
  std::vector<float> result(static_cast<size_t>(y.elements()));
  const HostTensor out{&y, result.data()};
  execute(node.op, in, {&out, 1});
  PatchBuilder b(g, root, "folded into a constant");
  return b.replace_root(
      b.constant(y, constant_of(std::move(result)), g.values[node.outputs[0]].name));
}

static bool is_zeros(const Graph& g, ValueId v) {
  return g.is_constant(v) && g.type(v) == Type{DType::f32, g.type(v).shape, {}} &&
         std::ranges::all_of(g.values[v].constant->as<float>(), [](float x) { return x == 0; });
}

// f(x, 0)   becomes   x where f is a sum, and 0 where it is a product: in the first step of a loop,
// mostly
static std::optional<Patch> drop_zeros(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!is_binary(node.op)) return std::nullopt;
  const Type& y = g.type(node.outputs[0]);
  for (const size_t zero : {size_t{0}, size_t{1}}) {
    if (!is_zeros(g, node.inputs[zero])) continue;
    // What becomes of some numbers tells which function it is, bounds included.
    std::vector<float> numbers{1.5f, -2.25f, 1e30f, -1e30f, 1e-30f}, zeros(5), result(5);
    const Type some{DType::f32, {5}, {}};
    HostTensor in[] = {{&some, numbers.data()}, {&some, numbers.data()}};
    in[zero] = {&some, zeros.data()};
    const HostTensor out{&some, result.data()};
    execute(node.op, in, {&out, 1});
    const ValueId x = node.inputs[1 - zero];
    if (result == numbers && g.type(x) == y)
      return PatchBuilder(g, root, "zeros are added").replace_root(x);
    if (result != zeros || y.elements() > most_elements(g, uses, node)) continue;
    PatchBuilder b(g, root, "multiplied by zeros");
    return b.replace_root(
        b.constant(y, constant_of(std::vector<float>(static_cast<size_t>(y.elements()))),
                   g.values[node.outputs[0]].name));
  }
  return std::nullopt;
}

void fold_constants(PassContext& pass) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.push_back(evaluate);
  rules.push_back(drop_zeros);
  // With samples it gets parameters for its activations, too; without, its layers stay in float.
  if (!pass.samples.empty() && has_only_quantized_constants(pass.graph))
    rules.push_back(fold_dequantize_of_constant);
  rewrite(pass.graph, rules, pass.rules());
}

}  // namespace deuteron
