// SPDX-License-Identifier: Apache-2.0
// What a program would be with operators in bands of rows: each is lowered once, however often a
// search comes back to it.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compile/pass.h"
#include "compile/plan/plan_memory.h"
#include "compile/schedule/split_rows.h"
#include "ir/graph.h"

namespace deuteron {

// What is alive at each node, by node of the graph without bands: the most at any node that it
// became.
struct BandedProgram {
  std::vector<i64> alive;
  i64 most = 0;
  NodeId peak = -1;
  i64 macs = 0, calls = 0;
};

// What one split adds to the whole.
struct AddedBySplit {
  i64 macs = 0, calls = 0;
  i64 copies = 0;   // of kept rows, part of the calls
  i64 cost = 0;     // in multiply-adds
  i64 between = 0;  // bytes that are alive at once between the chain's ends
};

class RowTrials {
 public:
  explicit RowTrials(PassContext& pass) : pass_(pass), uses_(pass.graph) {}

  const Graph& graph() const { return pass_.graph; }
  const Uses& uses() const { return uses_; }

  // The graph with these splits; with_bands.
  std::optional<Graph> banded(const std::vector<RowSplit>& splits,
                              std::vector<NodeId>* made_from = nullptr) const;
  // Null when the graph does not lower.
  const BandedProgram* program(const std::vector<RowSplit>& splits);
  // As the program will have it, with packed weights. Packing takes too long for every step of a
  // search.
  const MemoryPlan& plan(const std::vector<RowSplit>& splits);
  // The lowered graph of that plan.
  Graph lowered(const std::vector<RowSplit>& splits) const;

  // The same from either end. Null when the operators cannot be split so.
  const AddedBySplit* added(RowSplit split);
  // chain_up_to, of at most kMostOperators.
  const std::vector<NodeId>& chain(NodeId last);

 private:
  std::optional<Graph> lower(const std::vector<RowSplit>& splits) const;
  std::optional<BandedProgram> measure(const std::vector<RowSplit>& splits) const;

  PassContext& pass_;
  const Uses uses_;
  std::map<std::vector<RowSplit>, std::optional<BandedProgram>> programs_;
  std::map<std::vector<RowSplit>, MemoryPlan> plans_;
  std::map<RowSplit, std::optional<AddedBySplit>> added_;
  std::map<NodeId, std::vector<NodeId>> chains_;
};

// How long a chain may be.
inline constexpr size_t kMostOperators = 16;

}  // namespace deuteron
