// SPDX-License-Identifier: Apache-2.0
#include "compile/schedule/row_trials.h"

#include <algorithm>

#include "compile/compilation.h"
#include "compile/lower/fit_scratch.h"
#include "compile/options.h"
#include "compile/schedule/row_plan.h"
#include "compile/trial.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

// What a kernel call costs beside its multiply-adds, in multiply-adds: loops, and parameters that
// are read again.
static constexpr i64 kMacsOfACall = 20'000;
// What it costs to copy kept rows: a call that has no loops to set up, and four bytes for the time
// of a multiply-add.
static constexpr i64 kMacsOfACopy = 2'000;
static constexpr i64 kCopiedBytesOfAMac = 4;

// While it is lowered a node's source is the node of the unsplit graph that it comes from.
std::optional<Graph> RowTrials::lower(const std::vector<RowSplit>& splits) const {
  std::vector<NodeId> made_from;
  std::optional<Graph> graph = banded(splits, &made_from);
  if (!graph) return std::nullopt;
  const size_t sources = std::max<size_t>(
      pass_.graph.nodes.size(), 1);  // copies of states come from the first one where there is none
  graph->sources.assign(sources, {});
  graph->folded.clear();
  for (State& state : graph->states) state.source = -1;  // that of its maker
  for (size_t n = 0; n < graph->nodes.size(); ++n) graph->nodes[n].origin = {made_from[n]};
  Trial trial(pass_, *std::move(graph));
  if (!trial.run("lower", "lower")) return std::nullopt;
  return std::move(trial.graph);
}

std::optional<Graph> RowTrials::banded(const std::vector<RowSplit>& splits,
                                       std::vector<NodeId>* made_from) const {
  return with_bands(pass_.graph, uses_, splits, pass_.target.options.is_for_stock(), made_from);
}

std::optional<BandedProgram> RowTrials::measure(const std::vector<RowSplit>& splits) const {
  std::optional<Graph> lowered = lower(splits);
  if (!lowered) return std::nullopt;
  // In a program with packed weights scratch never makes the peak but for what a kernel cannot do
  // without.
  if (pass_.options.packed_weights) shrink_scratch(*lowered);
  BandedProgram p;
  p.alive.assign(lowered->sources.size(), 0);
  const std::vector<i64> alive = bytes_alive(*lowered);
  for (size_t n = 0; n < alive.size(); ++n) {
    const auto* call = call_of(lowered->nodes[n].op);
    if (!call) continue;
    const NodeId source = lowered->nodes[n].origin[0];
    p.alive[source] = std::max(p.alive[source], alive[n]);
    p.macs += call->macs;
    ++p.calls;
    if (alive[n] > p.most) p.most = alive[n], p.peak = source;
  }
  return p;
}

const BandedProgram* RowTrials::program(const std::vector<RowSplit>& splits) {
  auto found = programs_.find(splits);
  if (found == programs_.end()) found = programs_.emplace(splits, measure(splits)).first;
  return found->second ? &*found->second : nullptr;
}

Graph RowTrials::lowered(const std::vector<RowSplit>& splits) const {
  Trial trial(pass_, lower(splits).value());
  trial.run("pack-weights", "fit-scratch");
  return std::move(trial.graph);
}

const MemoryPlan& RowTrials::plan(const std::vector<RowSplit>& splits) {
  auto found = plans_.find(splits);
  if (found == plans_.end()) found = plans_.emplace(splits, plan_memory(lowered(splits))).first;
  return found->second;
}

const AddedBySplit* RowTrials::added(RowSplit split) {
  split.upward = false;
  auto found = added_.find(split);
  if (found == added_.end()) {
    std::optional<AddedBySplit> added;
    if (const std::optional<RowPlan> plan = plan_rows(pass_.graph, uses_, split)) {
      i64 macs = 0;
      for (const NodeId n : split.chain) macs += macs_of(pass_.graph, pass_.graph.nodes[n]);
      const i64 calls = plan->calls - static_cast<i64>(split.chain.size());
      const i64 copying = kMacsOfACopy * plan->copies + plan->copied_bytes / kCopiedBytesOfAMac;
      added = {plan->macs - macs, calls + plan->copies, plan->copies,
               plan->macs - macs + kMacsOfACall * calls + copying, plan->between};
    }
    found = added_.emplace(split, added).first;
  }
  return found->second ? &*found->second : nullptr;
}

const std::vector<NodeId>& RowTrials::chain(NodeId last) {
  auto found = chains_.find(last);
  if (found == chains_.end())
    found = chains_.emplace(last, chain_up_to(pass_.graph, uses_, last, kMostOperators)).first;
  return found->second;
}

}  // namespace deuteron
