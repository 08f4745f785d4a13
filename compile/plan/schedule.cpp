// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "ops/families.h"

namespace deuteron {

namespace {

constexpr size_t kMostOrders = 128;
constexpr i64 kScheduleBudget = 100'000'000;  // nodes and groups that are copied, over all steps

// What is alive together: a value, with all that lies in its bytes.
struct AliveGroup {
  i64 bytes = 0;
  i32 readers = 0;        // nodes; what is read outside counts as one more
  bool is_input = false;  // of the graph: alive before anything runs
};

// By value: itself, or what it is the same bytes of under another shape. Parts of a value count as
// values: where they will lie is not known yet.
std::vector<ValueId> roots(const Graph& g) {
  std::vector<ValueId> root(g.values.size());
  std::iota(root.begin(), root.end(), 0);
  for (const Node& node : g.nodes)
    if (facts_of(node.op).storage == Storage::in_operand &&
        g.type(node.inputs[0]).bytes() == g.type(node.outputs[0]).bytes())
      root[node.outputs[0]] = root[node.inputs[0]];
  return root;
}

// Which nodes wait for which, and which groups they make and read.
class Dependences {
 public:
  explicit Dependences(const Graph& g)
      : groups(g.values.size()),
        makes(g.nodes.size()),
        reads(g.nodes.size()),
        waits(g.nodes.size()),
        next(g.nodes.size()) {
    const std::vector<ValueId> root = roots(g);
    std::vector<NodeId> producer(g.values.size(), -1);
    NodeId last_delegate = -1;
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      const Node& node = g.nodes[n];
      std::set<NodeId> before;
      std::set<ValueId> read;
      for (const ValueId v : node.inputs) {
        if (g.is_constant(v)) continue;
        if (producer[v] >= 0) before.insert(producer[v]);
        read.insert(root[v]);
      }
      if (const auto* call = call_of(node.op); call && call->delegate) {
        if (last_delegate >= 0) before.insert(last_delegate);
        last_delegate = static_cast<NodeId>(n);
      }
      for (const NodeId b : before) next[b].push_back(static_cast<NodeId>(n));
      waits[n] = static_cast<i32>(before.size());
      std::set<ValueId> made;
      for (const ValueId v : node.outputs)
        producer[v] = static_cast<NodeId>(n), made.insert(root[v]);
      makes[n].assign(made.begin(), made.end());
      reads[n].assign(read.begin(), read.end());
      for (const ValueId v : read) ++groups[v].readers;
    }
    for (size_t v = 0; v < g.values.size(); ++v)
      if (!g.is_constant(static_cast<ValueId>(v))) {
        AliveGroup& group = groups[root[static_cast<ValueId>(v)]];
        group.bytes = std::max(group.bytes, g.type(static_cast<ValueId>(v)).bytes());
      }
    for (const Port& port : g.inputs) groups[root[port.value]].is_input = true;
    for (const std::span<const Port> kept : {std::span<const Port>(g.outputs), g.state_inputs()})
      for (const Port& port : kept) ++groups[root[port.value]].readers;
  }

  std::vector<AliveGroup> groups;           // by value; of one that lies in another: empty
  std::vector<std::vector<ValueId>> makes;  // by node: groups
  std::vector<std::vector<ValueId>> reads;
  std::vector<i32> waits;  // for so many nodes
  std::vector<std::vector<NodeId>> next;
};

// Some nodes have run.
struct PartialOrder {
  std::vector<i32> waits,
      readers;  // what is left, by node and by group; -1: the node has run, or the group is dead
  std::vector<bool> made;  // by group
  std::vector<NodeId> order;
  i64 alive = 0, peak = 0;

  explicit PartialOrder(const Dependences& d) : waits(d.waits), made(d.groups.size(), false) {
    for (const AliveGroup& group : d.groups) {
      readers.push_back(group.readers);
      if (group.is_input)
        alive += group.bytes, made[static_cast<size_t>(&group - d.groups.data())] = true;
    }
    peak = alive;
  }
  void run(const Dependences& d, NodeId n) {
    for (const ValueId v : d.makes[n])
      if (!made[v]) made[v] = true, alive += d.groups[v].bytes;
    peak = std::max(peak, alive);
    for (const ValueId v : d.reads[n]) end_if(d, v, --readers[v] == 0);
    for (const ValueId v : d.makes[n]) end_if(d, v, readers[v] == 0);
    waits[n] = -1;
    for (const NodeId k : d.next[n]) --waits[k];
    order.push_back(n);
  }
  void end_if(const Dependences& d, ValueId v, bool ends) {
    if (ends && made[v]) alive -= d.groups[v].bytes, readers[v] = -1;
  }
};

std::vector<NodeId> ready_nodes(const PartialOrder& s) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < s.waits.size(); ++n)
    if (s.waits[n] == 0) nodes.push_back(static_cast<NodeId>(n));
  return nodes;
}

// No order has less alive: its first node runs beside all inputs, its last one beside all that is
// read outside.
i64 least_possible(const Dependences& d) {
  const auto bytes_where = [&](const std::vector<ValueId>& values, auto&& counts) {
    i64 bytes = 0;
    for (const ValueId v : values)
      if (counts(v)) bytes += d.groups[v].bytes;
    return bytes;
  };
  // What is left of a group's readers when every node has run is what reads it outside.
  std::vector<i32> outside;
  for (const AliveGroup& group : d.groups) outside.push_back(group.readers);
  for (const std::vector<ValueId>& reads : d.reads)
    for (const ValueId v : reads) --outside[v];
  i64 inputs = 0, outputs = 0;  // bytes
  for (size_t v = 0; v < d.groups.size(); ++v) {
    if (d.groups[v].is_input) inputs += d.groups[v].bytes;
    if (outside[v] > 0) outputs += d.groups[v].bytes;
  }
  std::optional<i64> first, last;
  for (size_t n = 0; n < d.waits.size(); ++n) {
    const i64 makes = bytes_where(d.makes[n], [&](ValueId v) { return !d.groups[v].is_input; });
    const i64 reads = bytes_where(d.reads[n], [&](ValueId v) { return outside[v] == 0; });
    if (d.waits[n] == 0) first = std::min(first.value_or(makes), makes);
    if (d.next[n].empty()) last = std::min(last.value_or(reads), reads);
  }
  return std::max(inputs + first.value_or(0), outputs + last.value_or(0));
}

}  // namespace

i64 most_alive(const Graph& g, const std::vector<NodeId>& order) {
  const Dependences d(g);
  PartialOrder s(d);
  for (const NodeId n : order) s.run(d, n);
  return s.peak;
}

std::optional<std::vector<NodeId>> order_with_less_alive(const Graph& g) {
  const Dependences d(g);
  std::vector<NodeId> as_it_stands(g.nodes.size());
  std::iota(as_it_stands.begin(), as_it_stands.end(), 0);
  const i64 now = most_alive(g, as_it_stands);
  if (now <= least_possible(d)) return std::nullopt;
  const i64 steps = std::ssize(g.nodes), copied = steps + std::ssize(g.values);
  const i64 most_grown = std::max<i64>(kScheduleBudget / (steps * copied), 1);  // at each step
  std::vector<PartialOrder> states{PartialOrder(d)};
  for (size_t depth = 0; depth < g.nodes.size(); ++depth) {
    std::map<std::vector<i32>, PartialOrder>
        grown;  // by what is left to wait for: which nodes have run
    i64 may_grow = most_grown;
    for (PartialOrder& s : states) {
      if (may_grow == 0) break;
      std::vector<NodeId> nodes = ready_nodes(s);
      if (std::ssize(nodes) > may_grow) nodes.resize(static_cast<size_t>(may_grow));
      may_grow -= std::ssize(nodes);
      for (const NodeId n : nodes) {
        PartialOrder more = &n == &nodes.back() ? std::move(s) : s;
        more.run(d, n);
        if (more.peak >= now) continue;
        const auto at = grown.find(more.waits);
        if (at == grown.end()) grown.emplace(more.waits, std::move(more));
        else if (more.peak < at->second.peak) at->second = std::move(more);
      }
    }
    states.clear();
    for (auto& [waits, s] : grown) states.push_back(std::move(s));
    std::ranges::sort(states, [](const PartialOrder& a, const PartialOrder& b) {
      return std::tie(a.peak, a.alive, a.order) < std::tie(b.peak, b.alive, b.order);
    });
    if (states.size() > kMostOrders) states.erase(states.begin() + kMostOrders, states.end());
    if (states.empty()) return std::nullopt;
  }
  return states[0].order;
}

}  // namespace deuteron
