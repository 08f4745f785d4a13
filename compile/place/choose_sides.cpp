// SPDX-License-Identifier: Apache-2.0
#include "compile/place/choose_sides.h"

#include <algorithm>
#include <numeric>

#include "compile/cost/crossing_cost.h"
#include "compile/place/min_cut.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Whole programs that are compiled at most to look for a better one: the search ends early on large
// graphs.
constexpr int kMostTries = 32;

class Chooser {
 public:
  Chooser(const Graph& g, const std::vector<bool>& supported, const std::vector<SideCosts>& costs,
          const NpuCrossing& crossing, const Evaluate& evaluate)
      : g_(g),
        uses_(g),
        supported_(supported),
        costs_(costs),
        crossing_(crossing),
        evaluate_(evaluate) {}

  std::optional<SideChoice> run() {
    choice_.all_npu = consider(supported_);
    choice_.all_cpu = consider(std::vector<bool>(supported_.size(), false));
    // A call of the NPU is shared by the tensors that cross at it, so no price of a single tensor
    // is right: none, half and all of a call.
    for (const i64 share : {i64{0}, crossing_.call_cycles / 2, crossing_.call_cycles})
      consider(cut(share));
    while (best_ && choice_.evaluated < kMostTries && improve()) {}
    if (!best_) return std::nullopt;
    choice_.chosen = *best_;
    return choice_;
  }

 private:
  std::optional<ProgramCost> consider(const std::vector<bool>& on_npu) {
    if (std::find(seen_.begin(), seen_.end(), on_npu) != seen_.end()) return std::nullopt;
    seen_.push_back(on_npu);
    ++choice_.evaluated;
    std::optional<ProgramCost> cost = evaluate_(on_npu);
    // Where they are equal, more on the NPU: it comes first.
    if (cost && (!best_ || cost->total() < best_->total())) best_ = cost, choice_.on_npu = on_npu;
    return cost;
  }

  std::vector<bool> cut(i64 share_of_call) const {
    TwoSides sides;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      sides.here.push_back(supported_[n] && costs_[n].npu >= 0 ? costs_[n].npu : kNever);
      sides.there.push_back(!supported_[n] ? 0 : costs_[n].cpu >= 0 ? costs_[n].cpu : kNever);
      for (const ValueId v : g_.nodes[n].inputs)
        if (const NodeId above = uses_.producer[v]; above >= 0)
          sides.pairs.push_back({above, static_cast<i32>(n),
                                 crossing_cycles(crossing_, g_.type(v).bytes()) + share_of_call});
    }
    return cheapest_sides(sides);
  }

  // Connected nodes of the NPU, by a node of theirs; the CPU's are -1.
  std::vector<NodeId> parts(const std::vector<bool>& on_npu) const {
    std::vector<NodeId> part(g_.nodes.size());
    std::iota(part.begin(), part.end(), 0);
    const auto root = [&](NodeId n) {
      while (part[n] != n) n = part[n];
      return n;
    };
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      for (const ValueId v : g_.nodes[n].inputs)
        if (const NodeId above = uses_.producer[v]; above >= 0 && on_npu[n] && on_npu[above])
          part[root(static_cast<NodeId>(n))] = root(above);
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      part[n] = on_npu[n] ? root(static_cast<NodeId>(n)) : -1;
    return part;
  }
  bool is_at_border(NodeId n, const std::vector<bool>& on_npu) const {
    for (const ValueId v : g_.nodes[n].inputs)
      if (const NodeId above = uses_.producer[v];
          !g_.is_constant(v) && (above < 0 || !on_npu[above]))
        return true;
    for (const ValueId v : g_.nodes[n].outputs) {
      if (uses_.output_uses[v] > 0) return true;
      for (const NodeId r : uses_.readers[v])
        if (!on_npu[r]) return true;
    }
    return false;
  }

  // One step from the best so far; false: nothing near it is better.
  bool improve() {
    const std::vector<bool> from = choice_.on_npu;
    const i64 before = best_->total();
    const std::vector<NodeId> part = parts(from);
    struct Move {
      i64 gain;  // by the prices of the nodes alone
      std::vector<NodeId> nodes;
    };
    std::vector<Move> moves;
    for (size_t n = 0; n < part.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (part[n] == id) {
        Move whole{2 * crossing_.call_cycles, {}};
        for (size_t k = 0; k < part.size(); ++k)
          if (part[k] == id)
            whole.nodes.push_back(static_cast<NodeId>(k)),
                whole.gain += costs_[k].npu - costs_[k].cpu;
        moves.push_back(std::move(whole));
      }
      if (from[n] && is_at_border(id, from)) moves.push_back({costs_[n].npu - costs_[n].cpu, {id}});
      if (!from[n] && supported_[n]) moves.push_back({costs_[n].cpu - costs_[n].npu, {id}});
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.gain > b.gain; });
    for (const Move& move : moves) {
      if (choice_.evaluated >= kMostTries || move.gain <= -2 * crossing_.call_cycles) break;
      std::vector<bool> to = from;
      for (const NodeId n : move.nodes) to[n] = !to[n];
      consider(to);
      if (best_->total() < before) return true;
    }
    return false;
  }

  const Graph& g_;
  const Uses uses_;
  const std::vector<bool>& supported_;
  const std::vector<SideCosts>& costs_;
  const NpuCrossing& crossing_;
  const Evaluate& evaluate_;
  std::vector<std::vector<bool>> seen_;
  std::optional<ProgramCost> best_;
  SideChoice choice_;
};

}  // namespace

std::optional<SideChoice> choose_sides(const Graph& graph, const std::vector<bool>& supported,
                                       const std::vector<SideCosts>& costs,
                                       const NpuCrossing& crossing, const Evaluate& evaluate) {
  return Chooser(graph, supported, costs, crossing, evaluate).run();
}

}  // namespace deuteron
