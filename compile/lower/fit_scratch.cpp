// SPDX-License-Identifier: Apache-2.0
// A plan needs the tensors that are alive and the scratch of the call that runs. The stock dialect
// fixes how much scratch a call has. In a program that only our runtime takes, a call gets what its
// kernel uses, but no more than lies free under the peak: scratch alone never makes a program
// larger. Kernels that want more work in smaller pieces, with the same bits.
#include "compile/lower/fit_scratch.h"

#include <algorithm>

#include "compile/lower/portable_calls.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/plan/plan_memory.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// The k-th scratch of a call that says what it needs.
void set_scratch(Graph& g, Node& node, size_t k, i64 bytes) {
  auto& call = *call_of(node.op);
  const size_t output = node.outputs.size() - call.own_scratch.size() + k;
  g.values[node.outputs[output]].type.shape = {bytes};
  for (KernelArg& arg : call.args)
    if (arg.kind == KernelArg::Kind::output && arg.integer == static_cast<i64>(output))
      arg.face = plain_face({bytes});
}

void fit(Graph& g) {
  shrink_scratch(g);
  const std::vector<i64> alive = bytes_alive(g);
  const i64 peak = alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    auto* call = call_of(g.nodes[n].op);
    if (!call) continue;
    i64 room = peak - alive[n];
    for (size_t k = 0; k < call->own_scratch.size(); ++k) {
      const OwnScratch own = call->own_scratch[k];
      // of the plan
      const i64 least = (own.least + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
      const i64 bytes = std::clamp(least + room, own.least, own.most);
      room -=
          std::max<i64>((bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment - least, 0);
      set_scratch(g, g.nodes[n], k, bytes);
    }
    call->own_scratch.clear();
  }
}

}  // namespace

void shrink_scratch(Graph& g) {
  for (Node& node : g.nodes)
    if (auto* call = call_of(node.op))
      for (size_t k = 0; k < call->own_scratch.size(); ++k)
        set_scratch(g, node, k, call->own_scratch[k].least);
}

void fit_scratch(PassContext& pass) {
  const auto is_own = [](const Node& node) {
    const auto* call = call_of(node.op);
    return call && is_own_dialect(*call);
  };
  // Stock firmware refuses a program with a call of ours by name, before it runs anything. It would
  // overrun the scratch of another.
  if (std::any_of(pass.graph.nodes.begin(), pass.graph.nodes.end(), is_own)) fit(pass.graph);
}

}  // namespace deuteron
