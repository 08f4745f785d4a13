// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/plan_memory.h"

#include <algorithm>
#include <limits>

#include "base/allocate/pack.h"
#include "compile/plan/homes.h"
#include "ops/families.h"

namespace deuteron {
namespace {

i64 aligned(i64 bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

// A value with everything that lies where it lies under another shape. Moment 0: inputs are set;
// moment i+1: node i runs; the last moment but one is the last node's, the last is when the caller
// reads the outputs.
struct Life {
  i64 bytes = 0;
  i32 first = -1, last = -1;  // -1: nobody touches it
  bool read = false;
};

struct Lives {
  std::vector<ValueId> root;  // by value: whose bytes it lies in
  std::vector<i64> shift;     // by value: from the root's first byte
  std::vector<Life> tensor;   // by root
  // By root, for those whose bytes begin or end to live at several moments: the parts of a whole
  // that are written one after the other, the rows that are read for the last time. Else empty.
  std::vector<std::vector<PackPiece>> pieces;
  i32 moments = 0;
};

// From what touches a root's bytes, each from `first` to `last`: when each byte is touched first
// and last.
std::vector<PackPiece> pieces_of(const std::vector<PackPiece>& touches) {
  std::vector<i64> cuts;
  for (const PackPiece& t : touches) cuts.push_back(t.begin), cuts.push_back(t.end);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<PackPiece> pieces;
  for (size_t k = 0; k + 1 < cuts.size(); ++k) {
    PackPiece piece{cuts[k], cuts[k + 1], std::numeric_limits<i32>::max(), -1};
    for (const PackPiece& t : touches)
      if (t.begin <= piece.begin && piece.end <= t.end)
        piece.first = std::min(piece.first, t.first), piece.last = std::max(piece.last, t.last);
    if (piece.last < 0) continue;  // bytes that nobody touches
    const bool goes_on = !pieces.empty() && pieces.back().end == piece.begin &&
                         pieces.back().first == piece.first && pieces.back().last == piece.last;
    if (goes_on) pieces.back().end = piece.end;
    else pieces.push_back(piece);
  }
  return pieces;
}

Lives find_lives(const Graph& g) {
  Lives l;
  const auto n = static_cast<ValueId>(g.values.size());
  const Homes homes(g);
  for (ValueId v = 0; v < n; ++v) {
    l.root.push_back(homes.of(v).root);
    l.shift.push_back(homes.of(v).offset);
  }
  l.tensor.resize(n);
  l.moments = static_cast<i32>(g.nodes.size()) + 2;
  for (ValueId v = 0; v < n; ++v) l.tensor[v].bytes = g.type(v).bytes();
  std::vector<std::vector<PackPiece>> touches(n);
  const auto touch = [&](ValueId v, i32 moment) {
    Life& t = l.tensor[l.root[v]];
    t.first = t.first < 0 ? moment : std::min(t.first, moment);
    t.last = std::max(t.last, moment);
    if (const i64 bytes = g.type(v).bytes(); bytes > 0)
      touches[l.root[v]].push_back({l.shift[v], l.shift[v] + bytes, moment, moment});
  };
  for (const Port& p : g.inputs) touch(p.value, 0);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[i];
    if (!call_of(node.op)) continue;  // no instruction: takes no time
    for (const ValueId v : node.inputs)
      touch(v, static_cast<i32>(i) + 1), l.tensor[l.root[v]].read = true;
    for (const ValueId v : node.outputs) touch(v, static_cast<i32>(i) + 1);
  }
  for (const Port& p : g.outputs)
    touch(p.value, l.moments - 1), l.tensor[l.root[p.value]].read = true;
  l.pieces.resize(n);
  for (ValueId v = 0; v < n; ++v) {
    const auto is_part = [&](const PackPiece& t) {
      return t.begin > 0 || t.end < l.tensor[v].bytes;
    };
    if (!g.is_constant(v) && std::any_of(touches[v].begin(), touches[v].end(), is_part))
      l.pieces[v] = pieces_of(touches[v]);
    if (l.pieces[v].size() == 1 && l.pieces[v][0].end - l.pieces[v][0].begin == l.tensor[v].bytes)
      l.pieces[v].clear();
  }
  return l;
}

bool is_planned(const Graph& g, const Lives& l, ValueId root) {
  return l.tensor[root].first >= 0 && !g.is_constant(root);
}

// A result that may take the place of an operand: the operand dies there, is no constant, and has
// as many elements that are at least as wide. Every use of the operand by the node must allow it.
struct InPlace {
  i32 moment;
  ValueId result, operand;  // roots
};
std::vector<InPlace> find_in_place(const Graph& g, const Lives& l) {
  std::vector<InPlace> pairs;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[i];
    const KernelCall* call = call_of(node.op);
    if (!call) continue;
    const auto moment = static_cast<i32>(i) + 1;
    for (const auto& [out, in] : call->in_place) {
      if (in < 0) continue;  // the call does not read that operand
      const ValueId result = node.outputs[out], operand = l.root[node.inputs[in]];
      const Type &to = g.type(result), &from = g.type(node.inputs[in]);
      const Life& t = l.tensor[operand];
      if (l.root[result] != result || from.bytes() != t.bytes)
        continue;  // parts of something larger stay where they are
      if (g.is_constant(operand) || t.last != moment || t.first == moment ||
          to.elements() != from.elements() || bytes_of(to.dtype) > bytes_of(from.dtype))
        continue;
      bool allowed = t.bytes > 0;
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (l.root[node.inputs[k]] == operand)
          allowed &= std::find(call->in_place.begin(), call->in_place.end(),
                               std::pair(out, static_cast<i64>(k))) != call->in_place.end();
      const bool known =
          !pairs.empty() && pairs.back().result == result && pairs.back().operand == operand;
      if (allowed && !known) pairs.push_back({moment, result, operand});
    }
  }
  return pairs;
}

// Tensors that share bytes, by the pairs that are taken: group[root] is the first of them; its size
// is enough for all.
struct Groups {
  std::vector<ValueId> group;
  std::vector<Life> tensor;  // by group
  std::vector<std::vector<PackPiece>>
      pieces;  // by group: of all its tensors, if one of them has pieces
};
Groups join(const Lives& l, const std::vector<InPlace>& pairs, const std::vector<bool>& taken) {
  Groups g{l.root, l.tensor, l.pieces};
  const auto append = [&](ValueId home, ValueId root) {
    const Life& t = l.tensor[root];
    if (l.pieces[root].empty()) g.pieces[home].push_back({0, t.bytes, t.first, t.last});
    else g.pieces[home].insert(g.pieces[home].end(), l.pieces[root].begin(), l.pieces[root].end());
  };
  std::vector<bool> joined(l.root.size()), overwritten(l.root.size());
  for (size_t k = 0; k < pairs.size(); ++k) {
    if (!taken[k] || joined[pairs[k].result] || overwritten[pairs[k].operand]) continue;
    joined[pairs[k].result] = overwritten[pairs[k].operand] = true;
    // pairs are in execution order, so the operand's home is final
    const ValueId home = g.group[pairs[k].operand];
    g.group[pairs[k].result] = home;
    const bool known = !g.pieces[home].empty(),
               narrower = l.tensor[pairs[k].result].bytes < g.tensor[home].bytes;
    if (known || narrower || !l.pieces[pairs[k].result].empty()) {
      // Until now the group was one tensor, or several one after the other, alive as a whole.
      if (!known)
        g.pieces[home].push_back(
            {0, g.tensor[home].bytes, g.tensor[home].first, g.tensor[home].last});
      append(home, pairs[k].result);
    }
    g.tensor[home].last = l.tensor[pairs[k].result].last;
  }
  for (size_t v = 0; v < l.root.size(); ++v) g.group[v] = g.group[l.root[v]];
  return g;
}

// Sum of aligned sizes alive at each moment.
std::vector<i64> profile(const Graph& graph, const Lives& l, const Groups& g) {
  std::vector<i64> sum(l.moments + 1, 0);
  for (size_t v = 0; v < l.root.size(); ++v) {
    const auto root = static_cast<ValueId>(v);
    if (l.root[v] != root || g.group[v] != root || !is_planned(graph, l, root)) continue;
    const Life& t = g.tensor[v];
    if (g.pieces[v].empty()) {
      sum[t.first] += aligned(t.bytes), sum[t.last + 1] -= aligned(t.bytes);
      continue;
    }
    for (i32 m = t.first; m <= t.last; ++m) {
      const i64 bytes = bytes_alive_at(g.pieces[v], m, kPlanAlignment);
      sum[m] += bytes, sum[m + 1] -= bytes;
    }
  }
  for (i32 m = 1; m <= l.moments; ++m) sum[m] += sum[m - 1];
  sum.resize(l.moments);
  return sum;
}
i64 largest(const std::vector<i64>& sums) {
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

// Which pairs to take: all that keep the size, then those with a narrower result that lower the
// largest sum: added one at a time to none, and removed one at a time from all.
std::vector<bool> choose_pairs(const Graph& graph, const Lives& l,
                               const std::vector<InPlace>& pairs) {
  const auto cost = [&](const std::vector<bool>& taken) {
    return largest(profile(graph, l, join(l, pairs, taken)));
  };
  std::vector<bool> same(pairs.size()), all(pairs.size(), true);
  std::vector<size_t> narrower;
  for (size_t k = 0; k < pairs.size(); ++k) {
    same[k] = l.tensor[pairs[k].result].bytes == l.tensor[pairs[k].operand].bytes;
    if (!same[k]) narrower.push_back(k);
  }
  i64 best_same = cost(same), best_all = cost(all);
  for (const size_t k : narrower) {
    for (auto [set, best] : {std::pair(&same, &best_same), std::pair(&all, &best_all)}) {
      (*set)[k].flip();
      const i64 c = cost(*set);
      if (c < *best) *best = c;
      else (*set)[k].flip();
    }
  }
  return best_same <= best_all ? same : all;
}

// No choice of pairs and no placement can do with less: at each node all of its pairs save their
// result's bytes.
std::vector<i64> least_sums(const Lives& l, const std::vector<InPlace>& pairs,
                            std::vector<i64> sums) {
  ValueId seen = -1;
  for (const InPlace& p : pairs) {
    if (p.result != seen) sums[p.moment] -= aligned(l.tensor[p.result].bytes);
    seen = p.result;
  }
  return sums;
}

PackResult pack_groups(const Graph& graph, const Lives& l, const Groups& g) {
  std::vector<PackItem> items(l.root.size());  // what is not planned has no bytes
  for (size_t v = 0; v < items.size(); ++v) {
    const auto root = static_cast<ValueId>(v);
    if (l.root[v] != root || g.group[v] != root || !is_planned(graph, l, root)) continue;
    items[v] = {g.tensor[v].bytes, g.tensor[v].first, g.tensor[v].last, kPlanAlignment,
                g.pieces[v]};
  }
  for (PackItem& item : items) item.alignment = kPlanAlignment;
  return pack(items);
}

void find_peak(const Graph& graph, const Lives& l, const Groups& g, MemoryPlan& plan) {
  const std::vector<i64> sums = profile(graph, l, g);
  const auto moment = static_cast<i32>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  plan.peak_node = moment >= 1 && moment <= static_cast<i32>(graph.nodes.size()) ? moment - 1 : -1;
  for (size_t v = 0; v < l.root.size(); ++v) {
    const auto root = static_cast<ValueId>(v);
    if (l.root[v] != root || !is_planned(graph, l, root) || l.tensor[v].bytes == 0) continue;
    const ValueId home = g.group[v];
    if (moment < g.tensor[home].first || moment > g.tensor[home].last) continue;
    // Of a group, the one that is alive; where one takes the other's place, the new one.
    const bool here = l.tensor[v].first <= moment && moment <= l.tensor[v].last;
    bool replaced = false;
    if (l.tensor[v].last == moment)
      for (size_t w = 0; w < l.root.size(); ++w)
        replaced |= w != v && l.root[w] == static_cast<ValueId>(w) && g.group[w] == home &&
                    l.tensor[w].first == moment;
    if (!here || replaced) continue;
    plan.peak.push_back({root, g.pieces[home].empty() ? g.tensor[home].bytes
                                                      : bytes_alive_at(g.pieces[home], moment, 1)});
  }
  std::stable_sort(plan.peak.begin(), plan.peak.end(),
                   [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
}

i64 largest_scratch(const Graph& graph, const Lives& l) {
  i64 most = 0;
  for (const Node& node : graph.nodes) {
    i64 sum = 0;
    for (const ValueId v : node.outputs)
      if (l.root[v] == v && !l.tensor[v].read) sum += aligned(l.tensor[v].bytes);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(const Graph& lowered) {
  const Lives lives = find_lives(lowered);
  const std::vector<InPlace> pairs = find_in_place(lowered, lives);
  Groups groups = join(lives, pairs, std::vector<bool>(pairs.size(), false));

  MemoryPlan plan;
  plan.lower_bound = largest(least_sums(lives, pairs, profile(lowered, lives, groups)));
  PackResult packing = pack_groups(lowered, lives, groups);
  const bool proved = pairs.empty() && packing.optimal;
  if (packing.bytes > plan.lower_bound && !pairs.empty()) {
    Groups shared = join(lives, pairs, choose_pairs(lowered, lives, pairs));
    PackResult less = pack_groups(lowered, lives, shared);
    if (less.bytes < packing.bytes) packing = std::move(less), groups = std::move(shared);
  }
  plan.bytes = packing.bytes;
  plan.optimal = proved || plan.bytes == plan.lower_bound;
  plan.scratch_bytes = largest_scratch(lowered, lives);
  plan.root = lives.root;
  plan.offset.assign(lowered.values.size(), -1);
  for (size_t v = 0; v < plan.offset.size(); ++v) {
    const bool planned = is_planned(lowered, lives, lives.root[v]);
    if (planned) plan.offset[v] = packing.offset[groups.group[v]] + lives.shift[v];
  }
  find_peak(lowered, lives, groups, plan);
  return plan;
}

PlannedGroups planned_groups(const Graph& lowered) {
  const Lives lives = find_lives(lowered);
  const std::vector<InPlace> pairs = find_in_place(lowered, lives);
  const Groups shared = join(lives, pairs, choose_pairs(lowered, lives, pairs));
  PlannedGroups result{{}, std::vector<i32>(lowered.values.size(), -1), lives.shift, lives.moments};
  for (size_t v = 0; v < lowered.values.size(); ++v) {
    const auto home = static_cast<size_t>(shared.group[v]);
    if (!is_planned(lowered, lives, lives.root[v])) continue;
    if (result.group_of[home] < 0) {
      const Life& t = shared.tensor[home];
      result.group_of[home] = static_cast<i32>(result.groups.size());
      result.groups.push_back(
          {static_cast<ValueId>(home), t.bytes, t.first, t.last, shared.pieces[home]});
    }
    result.group_of[v] = result.group_of[home];
  }
  return result;
}

std::vector<i64> bytes_alive(const Graph& lowered) {
  const Lives lives = find_lives(lowered);
  const std::vector<InPlace> pairs = find_in_place(lowered, lives);
  const Groups groups = join(lives, pairs, std::vector<bool>(pairs.size(), false));
  const std::vector<i64> sums = least_sums(lives, pairs, profile(lowered, lives, groups));
  return {sums.begin() + 1, sums.end() - 1};
}

}  // namespace deuteron
