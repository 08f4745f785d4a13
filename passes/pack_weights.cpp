// Weights become what the kernels of our runtime read: after lowering, so that every way to a dense call is served, with the numbers that
// the plain call has.
#include <algorithm>

#include "ops/families.h"
#include "ops/linear_add/linear_form.h"
#include "passes/call_node.h"
#include "passes/options.h"
#include "passes/pack_call.h"
#include "passes/pass.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct PackRule {
  std::string_view call;
  Result<Lowered> (*pack)(const PlainCall&);
};
constexpr PackRule kRules[] = {
    {"cortex_m::quantized_conv2d", pack_conv2d},
    {"cortex_m::quantized_depthwise_conv2d", pack_depthwise_conv2d},
    {"cortex_m::quantized_linear", pack_linear},
    {"cortex_m::quantized_add", linearize_add},
};

// All packed calls together may take so much more than their plain constants: what fills up blocks and tiles.
constexpr i64 kMostGrowthPercent = 3;

struct Candidate {
  size_t node;
  Lowered lowered;
  i64 growth;  // bytes of constants
};

i64 constant_bytes(const Graph& g, const Node& node) {
  i64 bytes = 0;
  for (const ValueId v : node.inputs)
    if (g.is_constant(v)) bytes += g.type(v).bytes();
  return bytes;
}

std::optional<Candidate> candidate(const Graph& g, size_t n, Isa isa) {
  const Node& node = g.nodes[n];
  const auto* call = call_of(node.op);
  if (!call) return std::nullopt;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs) data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  Result<Lowered> lowered = pack_call({*call, data, isa});
  if (!lowered) return std::nullopt;
  i64 growth = -constant_bytes(g, node);
  for (const NewConstant& c : lowered->constants) growth += c.type.bytes();
  lowered.value->call.macs = call->macs;
  return Candidate{n, std::move(*lowered.value), growth};
}

}  // namespace

Result<Lowered> pack_call(const PlainCall& plain) {
  for (const PackRule& rule : kRules)
    if (rule.call == plain.call.name) return rule.pack(plain);
  return Refusal{"has no kernel on packed weights", "", "", ""};
}

void pack_weights(PassContext& pass) {
  if (!pass.options.packed_weights) return;
  Graph& g = pass.graph;
  std::vector<Candidate> candidates;
  i64 left = 0;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    left += constant_bytes(g, g.nodes[n]) * kMostGrowthPercent / 100;
    if (auto c = candidate(g, n, pass.target.isa)) candidates.push_back(std::move(*c));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.growth < b.growth; });
  for (Candidate& c : candidates) {
    if (c.growth > left) break;
    left -= c.growth;
    Node& node = g.nodes[c.node];
    const Node result{node.op, node.inputs, {node.outputs[0]}, node.origin};  // without the scratch of the plain kernel
    node = call_node(g, result, std::move(c.lowered));
  }
}

}  // namespace deuteron
