// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/state_writes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compile/lower/call_node.h"
#include "compile/pass.h"
#include "compile/plan/homes.h"
#include "ir/rewrite/patch.h"
#include "ir/states.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

namespace {

// A node and the pair of in_place by which it writes over an older value of the state.
struct Link {
  NodeId node;
  std::pair<i64, i64> pair;
};

// Who reads what lies in the memory of each value, by root.
struct LastReaders {
  std::vector<NodeId> last;     // the last call; -1: none
  std::vector<bool> is_output;  // but for one port of the graph
};
LastReaders last_readers(const Graph& g, const Homes& homes, size_t but) {
  LastReaders r{std::vector<NodeId>(g.values.size(), -1), std::vector<bool>(g.values.size())};
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n)
    if (!takes_no_time(g.nodes[n].op))
      for (const ValueId v : g.nodes[n].inputs) r.last[homes.of(v).root] = n;
  for (size_t k = 0; k < g.outputs.size(); ++k)
    if (k != but) r.is_output[homes.of(g.outputs[k].value).root] = true;
  return r;
}

// The pair by which node n writes over all of the root `old`, which no other operand lies in.
std::optional<std::pair<i64, i64>> pair_over(const Graph& g, const Homes& homes, NodeId n,
                                             ValueId old) {
  const Node& node = g.nodes[n];
  const auto* call = call_of(node.op);
  const auto lies_in_old = [&](ValueId v) { return homes.of(v).root == old; };
  if (!call || call->delegate || std::ranges::count_if(node.inputs, lies_in_old) != 1)
    return std::nullopt;
  const Type &from = g.type(old), &to = g.type(node.outputs[0]);
  if (from.dtype != to.dtype || from.bytes() != to.bytes()) return std::nullopt;
  for (const auto& pair : call->in_place) {
    const auto [result, operand] = pair;
    if (result != 0 || operand < 0) continue;
    if (const Homes::Place at = homes.of(node.inputs[operand]); at.root == old && at.offset == 0)
      return pair;
  }
  return std::nullopt;
}

// The calls that make the root `after` of the root `before`, each in the place of the one before;
// none: it is made otherwise.
std::vector<Link> links_between(const Graph& g, const Homes& homes, ValueId before, ValueId after,
                                size_t port) {
  const LastReaders readers = last_readers(g, homes, port);
  std::vector<Link> links;
  for (ValueId v = before; v != after; v = g.nodes[links.back().node].outputs[0]) {
    const NodeId n = readers.last[v];
    const auto pair = n < 0 || readers.is_output[v] || homes.of(v).root != v
                          ? std::nullopt
                          : pair_over(g, homes, n, v);
    if (!pair) return {};
    links.push_back({n, *pair});
  }
  return links;
}

void work_in_place(Graph& g, size_t k) {
  const Uses uses(g);
  const NodeId copy = uses.producer[g.state_outputs()[k].value];
  const auto* write = copy < 0 ? nullptr : call_of(g.nodes[copy].op);
  if (!write || write->name != kStateWrite) return;
  const size_t port = g.outputs.size() - g.states.size() + k;
  const ValueId after = g.nodes[copy].inputs[0];
  const Homes homes(g);
  const Homes::Place place = homes.of(after);
  if (uses.output_uses[after] > 0 || place.offset != 0) return;
  const std::vector<Link> links =
      links_between(g, homes, g.state_inputs()[k].value, place.root, port);
  if (links.empty()) return;
  for (const Link& link : links) {
    Node& node = g.nodes[link.node];
    auto& call = *call_of(node.op);
    call.in_place = {link.pair};
    call.writes_state = true;
    node.origin = merge(node.origin, g.nodes[copy].origin);
  }
  g.outputs[port].value = after;
  g.nodes.erase(g.nodes.begin() + copy);
  drop_unreferenced_values(g);
}

// The last nodes copy to these states, in their order. Each goes up to the last node that reads the
// old value: what the new one is copied from is free then.
void write_early(Graph& g, const std::vector<size_t>& copied) {
  const Homes homes(g);
  for (size_t k = 0; k < copied.size(); ++k) {
    const auto write = g.nodes.end() - static_cast<std::ptrdiff_t>(copied.size() - k);
    const ValueId state = g.state_inputs()[copied[k]].value, source = write->inputs[0];
    const auto comes_first = [&](const Node& node) {
      const auto lies_in_it = [&](ValueId v) { return homes.of(v).root == state; };
      return std::any_of(node.inputs.begin(), node.inputs.end(), lies_in_it) ||
             std::find(node.outputs.begin(), node.outputs.end(), source) != node.outputs.end();
    };
    const auto last = std::find_if(std::make_reverse_iterator(write), g.nodes.rend(), comes_first);
    std::rotate(last.base(), write, write + 1);
  }
}

}  // namespace

void write_states(Graph& g, bool for_stock) {
  if (g.states.empty()) return;
  if (g.sources.empty())
    g.sources.push_back(
        {g.state_inputs()[0].name, "state", "", ""});  // a model that only hands inputs on
  std::vector<size_t> copied;
  for (size_t k = 0; k < g.states.size(); ++k)
    if (const NodeId maker = Uses(g).producer[g.state_outputs()[k].value];
        maker < 0 || !is_state_write(g.nodes[maker].op))
      copied.push_back(k);
  const size_t users = g.user_outputs().size();
  const Homes homes(g);
  const auto lies_in_state = [&](ValueId v) {
    const ValueId root = homes.of(v).root;
    return std::any_of(g.state_inputs().begin(), g.state_inputs().end(),
                       [&](const Port& p) { return p.value == root; });
  };
  const auto origin_of = [&](size_t k) {
    if (g.states[k].source >= 0) return Origin{g.states[k].source};
    const Uses uses(g);
    const NodeId maker = uses.producer[g.outputs[users + k].value];
    return maker >= 0 ? g.nodes[maker].origin : Origin{0};
  };
  std::vector<size_t> apart(users);
  std::iota(apart.begin(), apart.end(), 0);
  for (const size_t k : copied) apart.push_back(users + k);
  for (const size_t o : apart)
    if (ValueId& v = g.outputs[o].value; lies_in_state(v))
      v = add_copy(g, v, for_stock, origin_of(o < users ? 0 : o - users),
                   g.values[v].name + ".copy");
  for (const size_t k : copied) {
    ValueId& v = g.outputs[users + k].value;
    const Type type = g.type(v);
    const Face face = plain_face(type.shape);
    Lowered write =
        CallBuilder(kStateWrite, 1, 1).overload("").out(0, face).in(0, face).boolean(false).done();
    v = g.add_node(std::move(write.call), {v}, {type}, g.state_inputs()[k].name, origin_of(k));
  }
  write_early(g, copied);
}

void work_in_place(Graph& g) {
  for (size_t k = 0; k < g.states.size(); ++k) work_in_place(g, k);
}

void place_states(PassContext& pass) {
  if (!pass.target.options.is_for_stock()) work_in_place(pass.graph);
}

}  // namespace deuteron
