// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/border_transposes.h"

#include <algorithm>
#include <string>

#include "compile/cost/crossing_cost.h"
#include "compile/cost/npu_cost.h"
#include "compile/options.h"
#include "ir/rewrite/patch.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"
#include "ops/permute/collapse.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// What a flag can say: of [n, a, b], n pieces each become [b, a].
struct Turn {
  i64 n, a, b;
};
std::optional<Turn> turn_of(const Shape& x, const Axes& perm) {
  const CollapsedPermute few = collapse(x, perm);
  if (few.perm == Axes{1, 0}) return Turn{1, few.shape[0], few.shape[1]};
  if (few.perm == Axes{0, 2, 1}) return Turn{few.shape[0], few.shape[1], few.shape[2]};
  return std::nullopt;
}

// The transpose between a port and the rest of the body, behind views of the same bytes.
struct AtPort {
  bool is_input;
  size_t port;
  ValueId outside, inside;  // of the transpose: on the port's side, on the other
  Shape sizes;              // n, c, h, w of the outside
};

std::optional<AtPort> at_input(const Graph& g, const Uses& uses, size_t port) {
  ValueId v = g.inputs[port].value;
  while (uses.has_single_reader(v) && is_same_storage(g.nodes[uses.readers[v][0]].op))
    v = g.nodes[uses.readers[v][0]].outputs[0];
  if (!uses.has_single_reader(v)) return std::nullopt;
  const NodeId n = uses.readers[v][0];
  const Permute* permute = op_as<Permute>(g, n);
  const std::optional<Turn> turn = permute ? turn_of(g.type(v).shape, permute->perm) : std::nullopt;
  // A transpose from an input straight to an output stays: nothing else would be left of them.
  if (!turn || uses.output_uses[g.nodes[n].outputs[0]] > 0) return std::nullopt;
  const bool is_image = v == g.inputs[port].value && permute->perm == Axes{0, 2, 3, 1};
  return AtPort{true, port, v, g.nodes[n].outputs[0],
                is_image ? g.type(v).shape : Shape{turn->n, turn->a, 1, turn->b}};
}

std::optional<AtPort> at_output(const Graph& g, const Uses& uses, size_t port) {
  ValueId v = g.outputs[port].value;
  if (uses.output_uses[v] != 1 || !uses.readers[v].empty()) return std::nullopt;
  for (NodeId above = uses.producer[v]; above >= 0 && is_same_storage(g.nodes[above].op) &&
                                        uses.has_single_reader(g.nodes[above].inputs[0]);
       above = uses.producer[v])
    v = g.nodes[above].inputs[0];
  const NodeId n = uses.producer[v];
  const Permute* permute = op_as<Permute>(g, n);
  const ValueId inside = permute ? g.nodes[n].inputs[0] : -1;
  const std::optional<Turn> turn =
      permute ? turn_of(g.type(inside).shape, permute->perm) : std::nullopt;
  if (!turn || uses.producer[inside] < 0 || uses.output_uses[inside] > 0) return std::nullopt;
  const bool is_image = v == g.outputs[port].value && permute->perm == Axes{0, 3, 1, 2};
  return AtPort{false, port, v, inside,
                is_image ? g.type(v).shape : Shape{turn->n, turn->b, 1, turn->a}};
}

Graph without(Graph body, const AtPort& t) {
  const std::string reason = "transposed by the CPU at the NPU's border: a flag of the payload";
  Port& port = (t.is_input ? body.inputs : body.outputs)[t.port];
  port.value = t.inside;
  port.order = plain_face(body.type(t.inside).shape).order;
  if (t.is_input) {
    const auto makes = [&](const Node& node) { return node.outputs[0] == t.inside; };
    const auto permute = std::find_if(body.nodes.begin(), body.nodes.end(), makes);
    body.folded.push_back({permute->origin, reason});
    body.nodes.erase(permute);
  }
  remove_dead(body, reason);
  return body;
}

}  // namespace

BorderTransposes move_transposes_to_border(PassContext& pass, Graph& body) {
  BorderTransposes moved{std::vector<Shape>(body.inputs.size()),
                         std::vector<Shape>(body.outputs.size())};
  const FormatConversion by = pass.options.npu.format_conversion;
  if (by == FormatConversion::npu) return moved;
  const auto cycles_of = [&](const Graph& g) -> std::optional<i64> {
    const auto cost = npu_cost(g, *pass.target.npu, pass.options.npu.fetch_constants);
    if (!cost) return std::nullopt;
    return cost->cycles;
  };
  std::optional<i64> npu;  // cycles of the body as it is; only where there is something to compare
  const auto consider = [&](const std::optional<AtPort>& t) {
    if (!t) return;
    Graph rest = without(body, *t);
    if (!npu) npu = cycles_of(body);
    const std::optional<i64> npu_of_rest = cycles_of(rest);
    const std::optional<i64> cpu =
        by == FormatConversion::cpu
            ? 0
            : border_transpose_cycles(pass.target, body.type(t->outside).bytes());
    // Next to equal where the NPU has no kernel for it: a matrix product takes it as a flag of its
    // own.
    if (!cpu || !npu || !npu_of_rest || *npu_of_rest + *cpu >= *npu) return;
    npu = npu_of_rest;
    (t->is_input ? moved.inputs : moved.outputs)[t->port] = t->sizes;
    body = std::move(rest);
  };
  for (size_t k = 0; k < body.inputs.size(); ++k) consider(at_input(body, Uses(body), k));
  for (size_t k = 0; k < body.outputs.size(); ++k) consider(at_output(body, Uses(body), k));
  return moved;
}

}  // namespace deuteron
