#include "passes/border_transposes.h"

#include <algorithm>
#include <string>

#include "backends/neutron_delegate/payload.h"
#include "ops/permute/collapse.h"
#include "passes/cpu_cost.h"
#include "passes/node_cost.h"
#include "passes/options.h"
#include "rewrite/patch.h"
#include "rewrite/view_rules.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// A line of [cpu.cost]: no kernel of the program, but a loop inside the call of the delegate.
constexpr const char* kCostLine = "NeutronBackend::transpose";

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
  while (uses.has_single_reader(v) && op_as<Reshape>(g, uses.readers[v][0])) v = g.nodes[uses.readers[v][0]].outputs[0];
  if (!uses.has_single_reader(v)) return std::nullopt;
  const NodeId n = uses.readers[v][0];
  const Permute* permute = op_as<Permute>(g, n);
  const std::optional<Turn> turn = permute ? turn_of(g.type(v).shape, permute->perm) : std::nullopt;
  // A transpose from an input straight to an output stays: nothing else would be left of them.
  if (!turn || uses.output_uses[g.nodes[n].outputs[0]] > 0) return std::nullopt;
  const bool is_image = v == g.inputs[port].value && permute->perm == Axes{0, 2, 3, 1};
  return AtPort{true, port, v, g.nodes[n].outputs[0], is_image ? g.type(v).shape : Shape{turn->n, turn->a, 1, turn->b}};
}

std::optional<AtPort> at_output(const Graph& g, const Uses& uses, size_t port) {
  ValueId v = g.outputs[port].value;
  if (uses.output_uses[v] != 1 || !uses.readers[v].empty()) return std::nullopt;
  for (NodeId above; op_as<Reshape>(g, above = uses.producer[v]) && uses.has_single_reader(g.nodes[above].inputs[0]);)
    v = g.nodes[above].inputs[0];
  const NodeId n = uses.producer[v];
  const Permute* permute = op_as<Permute>(g, n);
  const ValueId inside = permute ? g.nodes[n].inputs[0] : -1;
  const std::optional<Turn> turn = permute ? turn_of(g.type(inside).shape, permute->perm) : std::nullopt;
  if (!turn || uses.producer[inside] < 0 || uses.output_uses[inside] > 0) return std::nullopt;
  const bool is_image = v == g.outputs[port].value && permute->perm == Axes{0, 3, 1, 2};
  return AtPort{false, port, v, inside, is_image ? g.type(v).shape : Shape{turn->n, turn->b, 1, turn->a}};
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

std::optional<i64> border_transpose_cycles(const Target& target, i64 bytes) {
  const CpuKernelCost* cost = find_cost(target, {kCostLine, "*"});
  return cost ? std::optional(cost->cycles({.results = bytes})) : std::nullopt;
}

BorderTransposes move_transposes_to_border(PassContext& pass, Graph& body) {
  BorderTransposes moved{std::vector<Shape>(body.inputs.size()), std::vector<Shape>(body.outputs.size())};
  const FormatConversion by = pass.options.npu.format_conversion;
  if (by == FormatConversion::npu) return moved;
  std::optional<i64> npu;  // cycles of the body as it is; only where there is something to compare
  const auto consider = [&](const std::optional<AtPort>& t) {
    if (!t) return;
    Graph rest = without(body, *t);
    if (!npu) npu = npu_cycles(pass, body);
    const std::optional<i64> npu_of_rest = npu_cycles(pass, rest);
    const std::optional<i64> cpu = by == FormatConversion::cpu ? 0 : border_transpose_cycles(pass.target, body.type(t->outside).bytes());
    // Next to equal where the NPU has no kernel for it: a matrix product takes it as a flag of its own.
    if (!cpu || !npu || !npu_of_rest || *npu_of_rest + *cpu >= *npu) return;
    npu = npu_of_rest;
    (t->is_input ? moved.inputs : moved.outputs)[t->port] = t->sizes;
    body = std::move(rest);
  };
  for (size_t k = 0; k < body.inputs.size(); ++k) consider(at_input(body, Uses(body), k));
  for (size_t k = 0; k < body.outputs.size(); ++k) consider(at_output(body, Uses(body), k));
  return moved;
}

std::vector<ValueId> transposed_by_cpu(const Node& node) {
  std::vector<ValueId> values;
  const KernelCall& call = std::get<KernelCall>(node.op);
  NeutronPayload p;
  const std::vector<u8>& bytes = call.delegate->processed;
  if (call.name != kNeutronBackendId || !read_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), &p).ok()) return values;
  const auto note = [&](const KernelArg& arg, bool flag, const std::vector<ValueId>& of) {
    if (flag && is_identity(arg.face.order)) values.push_back(of[arg.integer]);
  };
  for (i32 k = 0; k < p.inputs; ++k) note(call.args[p.input_map[k]], p.input_flags[k], node.inputs);
  for (i32 k = 0; k < p.outputs; ++k) note(call.args[p.arguments + p.output_map[k]], p.output_flags[k], node.outputs);
  return values;
}

}  // namespace deuteron
