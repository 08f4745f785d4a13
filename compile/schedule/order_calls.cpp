// SPDX-License-Identifier: Apache-2.0
// The order of a model's calls is that in which the user wrote them. Where branches lie beside each
// other another order may need less memory:
//
//   a1 b1 a2 b2 -> join     becomes     a1 a2 b1 b2 -> join        where a2 and b2 are small and a1
//   and b1 are not
#include <algorithm>
#include <numeric>

#include "compile/compilation.h"
#include "compile/pass.h"
#include "compile/plan/plan_memory.h"
#include "compile/plan/schedule.h"
#include "compile/trial.h"

namespace deuteron {

namespace {

// Of the program that the rest of the pipeline makes, but for bands of rows.
std::optional<i64> planned_bytes(const PassContext& pass, Graph graph) {
  Trial trial(pass, std::move(graph));
  if (!trial.run("lower", "fit-scratch")) return std::nullopt;
  return plan_memory(trial.graph).bytes;
}

}  // namespace

void order_calls(PassContext& pass) {
  Graph& g = pass.graph;
  const std::optional<std::vector<NodeId>> order = order_with_less_alive(g);
  if (!order) return;
  Graph ordered = g;
  for (size_t k = 0; k < order->size(); ++k) ordered.nodes[k] = g.nodes[(*order)[k]];
  const std::optional<i64> before = planned_bytes(pass, g), after = planned_bytes(pass, ordered);
  if (!before || !after || *after >= *before) return;
  CallOrder& decision = pass.result.call_order;
  decision = {0, *before, *after};
  NodeId latest = -1;  // what stands behind a node that it stood in front of has been moved
  for (const NodeId n : *order) decision.moved += n < latest, latest = std::max(latest, n);
  g = std::move(ordered);
}

}  // namespace deuteron
