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

bool is_last_reader(const Graph& g, NodeId n, ValueId old, std::span<const ValueId> others) {
  std::vector<bool> lies_there(g.values.size());
  lies_there[old] = true;
  const auto is_old = [&](ValueId v) { return lies_there[v]; };
  for (NodeId k = 0; k < static_cast<NodeId>(g.nodes.size()); ++k) {
    const Node& node = g.nodes[k];
    if (k == n || !std::ranges::any_of(node.inputs, is_old)) continue;
    if (k > n) return false;
    if (facts_of(node.op).storage == Storage::in_operand)
      for (const ValueId y : node.outputs) lies_there[y] = true;
  }
  return std::ranges::none_of(others, is_old) &&
         std::ranges::none_of(g.outputs, [&](const Port& p) { return is_old(p.value); });
}

namespace {

// A node and the pair of in_place by which it writes over an older value of the state.
struct Link {
  NodeId node;
  std::pair<i64, i64> pair;
};

// The calls that make `v` of the state's old value, each in the place of the one before.
class Chain {
 public:
  Chain(const Graph& g, ValueId before) : g_(g), before_(before), uses_(g), homes_(g) {}

  // False: the value is made otherwise. `v` is a root.
  bool leads_to(ValueId v) {
    if (v == before_) return true;
    const NodeId n = uses_.producer[v];
    const auto* call = n < 0 ? nullptr : call_of(g_.nodes[n].op);
    if (!call || call->delegate || g_.type(v).bytes() != g_.type(before_).bytes()) return false;
    const std::vector<ValueId>& inputs = g_.nodes[n].inputs;
    for (const auto& pair : call->in_place) {
      const auto [result, operand] = pair;
      if (result != 0 || operand < 0 || g_.nodes[n].outputs[0] != v) continue;
      const Homes::Place place = homes_.of(inputs[operand]);
      std::vector<ValueId> others = inputs;
      others.erase(others.begin() + operand);
      if (place.offset != 0 || g_.type(place.root).dtype != g_.type(v).dtype ||
          !is_last_reader(g_, n, place.root, others) || !leads_to(place.root))
        continue;
      links.push_back({n, pair});
      return true;
    }
    return false;
  }

  std::vector<Link> links;

 private:
  const Graph& g_;
  const ValueId before_;
  const Uses uses_;
  const Homes homes_;
};

void work_in_place(Graph& g, size_t k) {
  const Uses uses(g);
  const NodeId copy = uses.producer[g.state_outputs()[k].value];
  const auto* write = copy < 0 ? nullptr : call_of(g.nodes[copy].op);
  if (!write || write->name != kStateWrite) return;
  const ValueId after = g.nodes[copy].inputs[0];
  const Homes::Place place = Homes(g).of(after);
  Chain chain(g, g.state_inputs()[k].value);
  if (uses.output_uses[after] > 0 || place.offset != 0 || !chain.leads_to(place.root)) return;
  for (const Link& link : chain.links) {
    Node& node = g.nodes[link.node];
    auto& call = *call_of(node.op);
    call.in_place = {link.pair};
    call.writes_state = true;
    node.origin = merge(node.origin, g.nodes[copy].origin);
  }
  g.outputs[g.outputs.size() - g.states.size() + k].value = after;
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
