// SPDX-License-Identifier: Apache-2.0
// While patches are applied the graph's nodes are a linked list over g.nodes with order keys, and
// Uses is kept up to date; the vector is put in order once at the end.
#include "ir/rewrite/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace deuteron {

namespace {

class Rewriter {
 public:
  explicit Rewriter(Graph& graph);
  void apply(Patch patch, NodeId root);
  i64 run(std::span<const Rule> rules, const RuleContext& context);
  void finish();

 private:
  struct ByOrder {
    const std::vector<i64>* key;
    bool operator()(NodeId a, NodeId b) const { return (*key)[a] < (*key)[b]; }
  };

  bool alive(NodeId n) const { return !g_.nodes[n].outputs.empty(); }
  bool is_read(NodeId n) const;
  void count_origin(const Origin& origin, i32 by);
  void check_nodes(const Patch& patch, NodeId root, bool after_root, ValueId first_new_value) const;
  void name_values(Patch& patch, NodeId root, ValueId first_new_value) const;
  void link(NodeId first, NodeId count, NodeId root, bool after_root);
  void renumber_keys();
  void redirect(ValueId old_value, ValueId new_value, NodeId first_new_node,
                std::vector<NodeId>& redirected);
  void append(Patch& patch, NodeId first_new_node);
  void note_folded(const std::vector<Node>& died, std::string reason);
  std::vector<Node> bury(std::vector<NodeId> candidates);
  void give_origins(NodeId first_new_node, const std::vector<Node>& died,
                    const Origin& root_origin);
  bool try_rules(std::span<const Rule> rules, const RuleContext& context, NodeId n);

  static constexpr i64 kSpacing = i64{1} << 24;
  Graph& g_;
  Uses uses_;
  std::vector<i64> key_;  // grows along the execution order
  std::vector<NodeId> next_, previous_;
  NodeId head_ = -1, tail_ = -1;
  std::vector<i32> carriers_;  // by source id: how many nodes have it in their origin
  std::set<NodeId, ByOrder> dirty_;
};

Rewriter::Rewriter(Graph& graph)
    : g_(graph), uses_(graph), carriers_(graph.sources.size(), 0), dirty_(ByOrder{&key_}) {
  const auto count = static_cast<NodeId>(g_.nodes.size());
  for (NodeId n = 0; n < count; ++n) {
    DEUTERON_CHECK(!g_.nodes[n].outputs.empty(), describe(g_, g_.nodes[n]));
    key_.push_back(n * kSpacing);
    next_.push_back(n + 1 < count ? n + 1 : -1);
    previous_.push_back(n - 1);
    count_origin(g_.nodes[n].origin, 1);
  }
  if (count > 0) head_ = 0, tail_ = count - 1;
}

bool Rewriter::is_read(NodeId n) const {
  return std::any_of(g_.nodes[n].outputs.begin(), g_.nodes[n].outputs.end(), [&](ValueId v) {
    return !uses_.readers[v].empty() || uses_.output_uses[v] > 0;
  });
}

void Rewriter::count_origin(const Origin& origin, i32 by) {
  for (const i32 id : origin) {
    DEUTERON_CHECK(id >= 0 && id < static_cast<i32>(carriers_.size()),
                   fmt::format("source id {} of {}", id, carriers_.size()));
    carriers_[id] += by;
  }
}

void Rewriter::check_nodes(const Patch& patch, NodeId root, bool after_root,
                           ValueId first_new_value) const {
  std::vector<bool> made(patch.values.size());
  for (size_t k = 0; k < made.size(); ++k) made[k] = patch.values[k].constant.has_value();
  const auto value_count = first_new_value + static_cast<ValueId>(made.size());
  for (const Node& node : patch.nodes) {
    DEUTERON_CHECK(!node.outputs.empty(), std::string(name_of(node.op)));
    for (const ValueId v : node.inputs) {
      DEUTERON_CHECK(v >= 0 && v < value_count,
                     fmt::format("operand {} of {} values", v, value_count));
      if (v >= first_new_value) {
        DEUTERON_CHECK(made[v - first_new_value],
                       fmt::format("{} reads new value {} before it is made", name_of(node.op),
                                   v - first_new_value));
        continue;
      }
      const NodeId producer = uses_.producer[v];
      DEUTERON_CHECK(
          producer < 0 || key_[producer] < key_[root] || (after_root && producer == root),
          fmt::format("{} reads `{}`, which is made after {}", name_of(node.op), g_.values[v].name,
                      describe(g_, g_.nodes[root])));
    }
    for (const ValueId v : node.outputs) {
      DEUTERON_CHECK(
          v >= first_new_value && v < value_count && !made[v - first_new_value],
          fmt::format("{} makes value {}, which is not a new one of its own", name_of(node.op), v));
      made[v - first_new_value] = true;
    }
  }
  for (size_t k = 0; k < made.size(); ++k)
    DEUTERON_CHECK(made[k],
                   fmt::format("new value {} `{}` is never made", k, patch.values[k].name));
}

void Rewriter::name_values(Patch& patch, NodeId root, ValueId first_new_value) const {
  for (const auto& [old_value, new_value] : patch.replace)
    if (new_value >= first_new_value && patch.values[new_value - first_new_value].name.empty())
      patch.values[new_value - first_new_value].name = g_.values[old_value].name;
  const std::string& root_name = g_.values[g_.nodes[root].outputs[0]].name;
  for (size_t k = 0; k < patch.values.size(); ++k)
    if (patch.values[k].name.empty())
      patch.values[k].name =
          fmt::format("{}.{}", root_name, patch.values[k].constant ? "constant" : "part");
}

void Rewriter::renumber_keys() {
  i64 key = 0;
  for (NodeId n = head_; n >= 0; n = next_[n]) key_[n] = key += kSpacing;
}

// Puts nodes first .. first+count-1 into the list.
void Rewriter::link(NodeId first, NodeId count, NodeId root, bool after_root) {
  next_.resize(g_.nodes.size(), -1);
  previous_.resize(g_.nodes.size(), -1);
  key_.resize(g_.nodes.size(), 0);
  if (count == 0) return;
  NodeId before = after_root ? root : previous_[root], after = after_root ? next_[root] : root;
  const auto step = [&] {
    if (before >= 0 && after >= 0) return (key_[after] - key_[before]) / (count + 1);
    return kSpacing;
  };
  if (step() == 0) renumber_keys();
  DEUTERON_CHECK(step() > 0, fmt::format("a patch of {} nodes", count));
  const i64 gap = step(), start = before >= 0 ? key_[before] : key_[after] - gap * (count + 1);
  for (NodeId k = 0; k < count; ++k) {
    key_[first + k] = start + gap * (k + 1);
    previous_[first + k] = k == 0 ? before : first + k - 1;
    next_[first + k] = k + 1 < count ? first + k + 1 : after;
  }
  (before >= 0 ? next_[before] : head_) = first;
  (after >= 0 ? previous_[after] : tail_) = first + count - 1;
}

void Rewriter::redirect(ValueId old_value, ValueId new_value, NodeId first_new_node,
                        std::vector<NodeId>& redirected) {
  const auto count = static_cast<ValueId>(g_.values.size());
  DEUTERON_CHECK(old_value >= 0 && old_value < count && new_value >= 0 && new_value < count &&
                     old_value != new_value,
                 fmt::format("{} -> {} of {} values", old_value, new_value, count));
  DEUTERON_CHECK(g_.type(old_value) == g_.type(new_value),
                 fmt::format("`{}`: {} would become {}", g_.values[old_value].name,
                             to_text(g_.type(old_value)), to_text(g_.type(new_value))));
  std::vector<NodeId> kept;
  for (const NodeId reader : uses_.readers[old_value]) {
    if (reader >= first_new_node) {
      kept.push_back(reader);
      continue;
    }
    for (ValueId& v : g_.nodes[reader].inputs)
      if (v == old_value) v = new_value;
    uses_.readers[new_value].push_back(reader);
    redirected.push_back(reader);
  }
  uses_.readers[old_value] = std::move(kept);
  if (uses_.output_uses[old_value] == 0) return;
  for (Port& port : g_.outputs)
    if (port.value == old_value) port.value = new_value;
  uses_.output_uses[new_value] += std::exchange(uses_.output_uses[old_value], 0);
}

// Removes those candidates that nobody reads, and what only they read; returns what was removed.
std::vector<Node> Rewriter::bury(std::vector<NodeId> candidates) {
  std::vector<Node> died;
  while (!candidates.empty()) {
    const NodeId n = candidates.back();
    candidates.pop_back();
    if (n < 0 || !alive(n) || is_read(n)) continue;
    died.push_back(std::exchange(g_.nodes[n], Node{}));
    const Node& node = died.back();
    for (const ValueId v : node.outputs) uses_.producer[v] = -1;
    for (const ValueId v : node.inputs) {
      std::vector<NodeId>& readers = uses_.readers[v];
      readers.erase(std::find(readers.begin(), readers.end(), n));
      candidates.push_back(uses_.producer[v]);
      if (uses_.producer[v] >= 0) dirty_.insert(uses_.producer[v]);
    }
    dirty_.erase(n);
    (previous_[n] >= 0 ? next_[previous_[n]] : head_) = next_[n];
    (next_[n] >= 0 ? previous_[next_[n]] : tail_) = previous_[n];
    count_origin(node.origin, -1);
  }
  return died;
}

// A new node with the very operator of one that died is that node, moved: it keeps its origin. The
// other new nodes stand for the other nodes that died. Without this rule a permute that sinks
// through the graph would leave its origin, and all that it met, on every node.
void Rewriter::give_origins(NodeId first_new_node, const std::vector<Node>& died,
                            const Origin& root_origin) {
  Origin all = root_origin, left;
  std::vector<bool> moved(died.size());
  std::vector<NodeId> blank, kept;
  for (NodeId n = first_new_node; n < static_cast<NodeId>(g_.nodes.size()); ++n) {
    Node& node = g_.nodes[n];
    if (!node.origin.empty()) continue;
    for (size_t k = 0; k < died.size(); ++k) {
      if (!(died[k].op == node.op)) continue;
      node.origin = merge(node.origin, died[k].origin);
      moved[k] = true;
    }
    (node.origin.empty() ? blank : kept).push_back(n);
  }
  for (size_t k = 0; k < died.size(); ++k) {
    all = merge(all, died[k].origin);
    if (!moved[k]) left = merge(left, died[k].origin);
  }
  for (const NodeId n : blank) g_.nodes[n].origin = left.empty() ? all : left;
  if (blank.empty() && !left.empty())
    for (const NodeId n : kept) g_.nodes[n].origin = merge(g_.nodes[n].origin, left);
  for (NodeId n = first_new_node; n < static_cast<NodeId>(g_.nodes.size()); ++n)
    count_origin(g_.nodes[n].origin, 1);
}

// The values and the nodes of a patch, in no order yet.
void Rewriter::append(Patch& patch, NodeId first_new_node) {
  for (Patch::NewValue& value : patch.values)
    g_.values.push_back({std::move(value.name), std::move(value.type), std::move(value.constant)});
  uses_.producer.resize(g_.values.size(), -1);
  uses_.readers.resize(g_.values.size());
  uses_.output_uses.resize(g_.values.size(), 0);
  for (Node& node : patch.nodes) {
    const auto n = static_cast<NodeId>(g_.nodes.size());
    for (const ValueId v : node.inputs) {
      uses_.readers[v].push_back(n);
      if (uses_.producer[v] >= 0 && uses_.producer[v] < first_new_node)
        dirty_.insert(uses_.producer[v]);
    }
    for (const ValueId v : node.outputs) uses_.producer[v] = n;
    g_.nodes.push_back(std::move(node));
  }
}

// What no node carries any more is told as folded.
void Rewriter::note_folded(const std::vector<Node>& died, std::string reason) {
  Origin vanished;
  for (const Node& node : died)
    for (const i32 id : node.origin)
      if (carriers_[id] == 0) vanished = merge(vanished, {id});
  if (!vanished.empty())
    g_.folded.push_back({std::move(vanished), reason.empty() ? "not needed" : std::move(reason)});
}

void Rewriter::apply(Patch patch, NodeId root) {
  DEUTERON_CHECK(root >= 0 && root < static_cast<NodeId>(g_.nodes.size()) && alive(root),
                 fmt::format("node {}", root));
  DEUTERON_CHECK(!patch.replace.empty(),
                 fmt::format("a patch at {} that replaces nothing", describe(g_, g_.nodes[root])));
  const auto first_new_value = static_cast<ValueId>(g_.values.size());
  const auto first_new_node = static_cast<NodeId>(g_.nodes.size());
  const auto new_nodes = static_cast<NodeId>(patch.nodes.size());
  const auto reads_root = [&](const Node& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
      return v >= 0 && v < first_new_value && uses_.producer[v] == root;
    });
  };
  const bool after_root = std::any_of(patch.nodes.begin(), patch.nodes.end(), reads_root);
  check_nodes(patch, root, after_root, first_new_value);
  name_values(patch, root, first_new_value);

  append(patch, first_new_node);
  link(first_new_node, new_nodes, root, after_root);

  const Origin root_origin = g_.nodes[root].origin;
  std::vector<NodeId> redirected, candidates{root};
  for (const auto& [old_value, new_value] : patch.replace) {
    redirect(old_value, new_value, first_new_node, redirected);
    candidates.push_back(uses_.producer[old_value]);
  }
  const std::vector<Node> died = bury(std::move(candidates));
  for (const NodeId reader : redirected) {
    if (!alive(reader)) continue;
    for (const ValueId v : g_.nodes[reader].inputs)
      DEUTERON_CHECK(uses_.producer[v] < 0 || key_[uses_.producer[v]] < key_[reader],
                     fmt::format("{} would read `{}` before it is made",
                                 describe(g_, g_.nodes[reader]), g_.values[v].name));
    dirty_.insert(reader);
  }

  give_origins(first_new_node, died, root_origin);
  for (NodeId n = first_new_node; n < first_new_node + new_nodes; ++n) {
    DEUTERON_CHECK(is_read(n), fmt::format("nobody reads the new {} at source ops {}",
                                           name_of(g_.nodes[n].op), fmt::join(root_origin, ", ")));
    dirty_.insert(n);
  }
  note_folded(died, std::move(patch.reason));
}

bool Rewriter::try_rules(std::span<const Rule> rules, const RuleContext& context, NodeId n) {
  for (const Rule& rule : rules)
    if (std::optional<Patch> patch = rule(g_, uses_, n, context)) {
      apply(std::move(*patch), n);
      return true;
    }
  return false;
}

i64 Rewriter::run(std::span<const Rule> rules, const RuleContext& context) {
  // A rule that moves a node past all others uses about as many rewrites as there are nodes; far
  // more than that is a pair of rules that undo each other.
  const i64 limit = 10'000 + 200 * static_cast<i64>(g_.nodes.size());
  i64 applied = 0;
  i64* const budget = context.rewrites_left;
  const auto spent = [&] { return budget != nullptr && *budget == 0; };
  for (bool changed = true; changed && !spent();) {
    changed = false;
    for (NodeId n = head_; n >= 0; n = next_[n]) dirty_.insert(dirty_.end(), n);
    while (!dirty_.empty() && !spent()) {
      const NodeId n = *dirty_.begin();
      dirty_.erase(dirty_.begin());
      if (!alive(n) || !is_read(n) || !try_rules(rules, context, n)) continue;
      changed = true;
      if (budget != nullptr && *budget > 0) --*budget;
      DEUTERON_CHECK(++applied <= limit,
                     fmt::format("{} rewrites, limit {}: two rules undo each other at value `{}`",
                                 applied, limit, g_.values.empty() ? "" : g_.values.back().name));
    }
  }
  return applied;
}

void Rewriter::finish() {
  std::vector<Node> ordered;
  ordered.reserve(g_.nodes.size());
  for (NodeId n = head_; n >= 0; n = next_[n]) ordered.push_back(std::move(g_.nodes[n]));
  g_.nodes = std::move(ordered);
  drop_unreferenced_values(g_);
}

}  // namespace

void apply(Graph& graph, Patch patch, NodeId root) {
  Rewriter rewriter(graph);
  rewriter.apply(std::move(patch), root);
  rewriter.finish();
}

i64 rewrite(Graph& graph, std::span<const Rule> rules, const RuleContext& context) {
  Rewriter rewriter(graph);
  const i64 applied = rewriter.run(rules, context);
  if (applied > 0) rewriter.finish();
  return applied;
}

}  // namespace deuteron
