// SPDX-License-Identifier: Apache-2.0
// Channels-last throughout: permutes sink towards the outputs, where they meet their opposites and
// vanish. What is left between images of the two orders is cut where it costs least
// (turn_images.h): at ports that is nothing, since they take a dim order.
#include <algorithm>
#include <map>
#include <numeric>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/simplify/turn_images.h"
#include "ir/rewrite/borders.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"
#include "ops/kernel_call/number_calls.h"

namespace deuteron {

// f(permute(x))   becomes   permute(f(x)); reshape likewise
static std::optional<Patch> sink_through_elementwise(const Graph& g, const Uses& uses,
                                                     NodeId root) {
  const Node& node = g.nodes[root];
  if (node.outputs.empty() || !is_elementwise(node.op)) return std::nullopt;
  const NodeId above = uses.producer[node.inputs[0]];
  const Type& type = g.type(node.outputs[0]);
  if (above < 0 || !is_view(g.nodes[above].op) || type.quant.per_channel() ||
      g.type(node.inputs[0]).quant.per_channel())
    return std::nullopt;
  PatchBuilder b(g, root, "");
  const ValueId y =
      b.add(node.op, {g.nodes[above].inputs[0]}, type.quant, g.values[node.outputs[0]].name);
  const Op moved = g.nodes[above].op;
  return b.replace_root(b.add(moved, {y}, type.quant));
}

// The permute that makes `v`; null: something else does.
static const Permute* permute_above(const Graph& g, const Uses& uses, ValueId v) {
  return op_as<Permute>(g, uses.producer[v]);
}
static ValueId before_permute(const Graph& g, const Uses& uses, ValueId v) {
  return g.nodes[uses.producer[v]].inputs[0];
}

// v, seen under the axes from before `perm`: nothing when that would cost a movement at run time.
static std::optional<ValueId> unpermuted(const Graph& g, const Uses& uses, PatchBuilder& b,
                                         ValueId v, const Axes& perm) {
  if (const Permute* above = permute_above(g, uses, v); above && above->perm == perm)
    return before_permute(g, uses, v);
  Shape full = g.type(v).shape;
  if (full.size() > perm.size()) return std::nullopt;
  full.insert(full.begin(), perm.size() - full.size(), 1);
  const Axes back = inverse(perm);
  if (!is_constant_like(g, uses, v) && !moves_nothing(back, full)) return std::nullopt;
  const Quant& quant = g.type(v).quant;
  if (full != g.type(v).shape) v = b.add(Reshape{full}, {v}, quant);
  return b.add(Permute{back}, {v}, quant);
}

// f(permute(a), permute(b))   becomes   permute(f(a, b)); a constant, or an operand that a permute
// would not move, comes along
static std::optional<Patch> sink_through_binary(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!is_binary(node.op)) return std::nullopt;
  const Type& type = g.type(node.outputs[0]);
  for (const ValueId v : node.inputs) {
    const Permute* above = permute_above(g, uses, v);
    if (!above) continue;
    const Axes& perm = above->perm;
    if (perm.size() != type.shape.size()) continue;
    PatchBuilder b(g, root, "");
    const std::optional<ValueId> first = unpermuted(g, uses, b, node.inputs[0], perm);
    const std::optional<ValueId> second = unpermuted(g, uses, b, node.inputs[1], perm);
    if (!first || !second) continue;
    const ValueId y = b.add(node.op, {*first, *second}, type.quant, g.values[node.outputs[0]].name);
    return b.replace_root(b.add(Permute{perm}, {y}, type.quant));
  }
  return std::nullopt;
}

// f(permute(x))   becomes   permute(f(x)), of an operator that can work along other axes: a pad, a
// reduction, a slice, ..
static std::optional<Patch> sink_through_movement(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.inputs.size() != 1) return std::nullopt;
  const Permute* permute = permute_above(g, uses, node.inputs[0]);
  if (!permute) return std::nullopt;
  const std::optional<Op> moved = reordered(node.op, permute->perm);
  if (!moved) return std::nullopt;
  PatchBuilder b(g, root, "");
  const Quant& quant = g.type(node.outputs[0]).quant;
  const ValueId y = b.add(*moved, {before_permute(g, uses, node.inputs[0])}, quant,
                          g.values[node.outputs[0]].name);
  return b.replace_root(b.add(*permute, {y}, quant));
}

// concat(permute(a), permute(b), ..)   becomes   permute(concat(a, b, ..)); what a permute would
// not move comes along
static std::optional<Patch> sink_through_concat(const Graph& g, const Uses& uses, NodeId root) {
  if (facts_of(g.nodes[root].op).storage != Storage::around_operands) return std::nullopt;
  const Node& node = g.nodes[root];
  for (const ValueId v : node.inputs) {
    const Permute* above = permute_above(g, uses, v);
    if (!above) continue;
    const Axes& perm = above->perm;
    PatchBuilder b(g, root, "");
    std::vector<ValueId> inputs;
    for (const ValueId operand : node.inputs)
      if (const std::optional<ValueId> x = unpermuted(g, uses, b, operand, perm))
        inputs.push_back(*x);
    if (inputs.size() != node.inputs.size()) continue;
    const Quant& quant = g.type(node.outputs[0]).quant;
    const ValueId y =
        b.add(*reordered(node.op, perm), std::move(inputs), quant, g.values[node.outputs[0]].name);
    return b.replace_root(b.add(Permute{perm}, {y}, quant));
  }
  return std::nullopt;
}

// call(permute(x), axis, ..)   becomes   permute(call(x, another axis, ..)), of a portable call
// that works along one axis (number_calls.h); what a permute would not move comes along
static std::optional<Patch> sink_through_call(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  const auto* call = call_of(node.op);
  if (!call || !works_along_axis(*call)) return std::nullopt;
  const NodeId n = uses.producer[node.inputs[0]];
  const Axes* above = n < 0 ? nullptr : permutation_of(g.nodes[n].op);
  if (!above) return std::nullopt;
  const Axes perm = *above;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Face* face = face_of_operand(*call, k);
    if (!face) continue;  // the index in a list
    const std::optional<ValueId> x =
        face->sizes.size() == perm.size() ? unpermuted(g, uses, b, inputs[k], perm) : std::nullopt;
    if (!x) return std::nullopt;
    inputs[k] = *x;
  }
  Type type = g.type(node.outputs[0]);
  type.shape = permuted(type.shape, inverse(perm));
  const ValueId y = b.add_typed(before_permute(*call, perm), std::move(inputs), type,
                                g.values[node.outputs[0]].name);
  return b.replace_root(b.add(g.nodes[n].op, {y}, type.quant));
}

// linear(reshape(permute(x)), w)   becomes   linear(reshape(x), w with its columns in the other
// order) Refused unless the reshape keeps the first axis and flattens the others, and the permute
// keeps the first axis too.
static std::optional<Patch> permute_linear_columns(const Linear&, const Graph& g, const Uses& uses,
                                                   NodeId root) {
  const Node& node = g.nodes[root];
  const NodeId flatten = producer_as<Reshape>(g, uses, node.inputs[0]);
  if (flatten < 0) return std::nullopt;
  const Permute* above = permute_above(g, uses, g.nodes[flatten].inputs[0]);
  if (!above || !is_constant_like(g, uses, node.inputs[1])) return std::nullopt;
  const Axes& perm = above->perm;
  const Shape &flat = g.type(node.inputs[0]).shape,
              &before = g.type(g.nodes[flatten].inputs[0]).shape;
  if (perm[0] != 0 || flat.size() != 2 || flat[0] != before[0]) return std::nullopt;
  const Type& weight = g.type(node.inputs[1]);
  PatchBuilder b(g, root, "folded into the order of the weight's columns");
  Shape split = before;
  split[0] = weight.shape[0];
  const ValueId columns =
      b.add(Reshape{split}, {node.inputs[1]}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId moved =
      b.add(Permute{inverse(perm)}, {columns}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId w =
      b.add(Reshape{weight.shape}, {moved}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId x = b.add(Reshape{flat}, {before_permute(g, uses, g.nodes[flatten].inputs[0])},
                          g.type(node.inputs[0]).quant);
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  inputs[1] = w;
  return b.replace_root(node.op, std::move(inputs));
}

static void apply_rules(const PassContext& pass, Graph& g, std::initializer_list<Rule> more) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), more);
  rewrite(g, rules, pass.rules());
}

// What permutes move at run time.
static i64 moved_bytes(const Graph& g) {
  const Uses uses(g);
  i64 bytes = 0;
  for (const Node& node : g.nodes) {
    if (node.outputs.empty()) continue;
    const Permute* permute = permute_above(g, uses, node.outputs[0]);
    if (!permute) continue;
    const Type& x = g.type(node.inputs[0]);
    if (!moves_nothing(permute->perm, x.shape)) bytes += x.bytes();
  }
  return bytes;
}

// The order that a permute of `v` asks for, behind operators of one element too.
static std::optional<Axes> wanted_order(const Graph& g, const Uses& uses, ValueId v) {
  std::vector<ValueId> open = {v};
  while (!open.empty()) {
    const ValueId x = open.back();
    open.pop_back();
    for (const NodeId n : uses.readers[x]) {
      const Node& node = g.nodes[n];
      if (node.outputs.empty()) continue;
      const Permute* permute = permute_above(g, uses, node.outputs[0]);
      if (permute && !moves_nothing(permute->perm, g.type(x).shape)) return permute->perm;
      if (is_elementwise(node.op)) open.push_back(node.outputs[0]);
    }
  }
  return std::nullopt;
}

static Constant turned(const Constant& data, const Type& type, const Axes& perm) {
  const auto bytes = static_cast<size_t>(bytes_of(type.dtype));
  const Shape to = permuted(type.shape, perm);
  std::vector<i64> step(perm.size(), 1), at(perm.size());
  for (size_t k = perm.size(); k-- > 1;) step[k - 1] = step[k] * type.shape[k];
  std::vector<std::byte> result(data.bytes.size());
  for (size_t n = 0; n < result.size(); n += bytes) {
    i64 place = 0;
    for (size_t k = 0; k < perm.size(); ++k) place += at[k] * step[perm[k]];
    std::copy_n(&data.bytes[static_cast<size_t>(place) * bytes], bytes, &result[n]);
    for (size_t k = perm.size(); k-- > 0 && ++at[k] == to[k];) at[k] = 0;
  }
  return constant_of(std::move(result));
}

// state -> .. -> its new value   becomes   state -> permute back -> .. -> its new value -> permute
static void turn(Graph& g, size_t k, const Axes& perm) {
  const size_t in = g.inputs.size() - g.states.size() + k,
               out = g.outputs.size() - g.states.size() + k;
  State& state = g.states[k];
  const ValueId before = g.inputs[in].value, after = g.outputs[out].value;
  const Origin origin = g.nodes[Uses(g).producer[after]].origin;
  state.initial = turned(state.initial, state.type, perm);
  state.type.shape = permuted(state.type.shape, perm);
  Type type = g.type(before);
  type.shape = permuted(type.shape, perm);
  const Axes order = permuted(g.inputs[in].order, perm);
  g.inputs[in].order = g.outputs[out].order = order;
  const ValueId stored = g.add_value(g.values[before].name, type);
  g.inputs[in].value = stored;
  g.outputs[out].value = g.add_node(Permute{perm}, {after}, {type}, g.values[after].name, origin);
  g.nodes.insert(g.nodes.begin(), {Permute{inverse(perm)}, {stored}, {before}, origin});
}

// Keeps each state in the order in which its new value is read, where fewer bytes then move at run
// time: the cache of values that attention reads along the other axis. `sink` moves the permutes of
// a graph as far as they go.
template <class Sink>
static void turn_states(Graph& g, const Sink& sink) {
  for (size_t k = 0; k < g.states.size(); ++k) {
    const Uses uses(g);
    const ValueId after = g.state_outputs()[k].value;
    const std::optional<Axes> perm = wanted_order(g, uses, after);
    if (!perm || uses.producer[after] < 0 || g.type(after).quant.per_channel()) continue;
    Graph trial = g;
    turn(trial, k, *perm);
    sink(trial);
    if (moved_bytes(trial) < moved_bytes(g)) g = std::move(trial);
  }
}

// permute(x), and once more   become   one: what each reader was given for itself moves once
static void share_views(Graph& g) {
  std::map<ValueId, std::vector<size_t>> views_of;  // by operand
  std::vector<Node> kept;
  std::vector<ValueId> now(g.values.size());
  std::iota(now.begin(), now.end(), 0);
  const auto is_output = [&](const Node& node) {
    return std::ranges::any_of(g.outputs,
                               [&](const Port& port) { return port.value == node.outputs[0]; });
  };
  for (Node& node : g.nodes) {
    for (ValueId& v : node.inputs) v = now[static_cast<size_t>(v)];
    if (is_view(node.op) && !is_output(node)) {
      std::vector<size_t>& views = views_of[node.inputs[0]];
      const auto same = [&](size_t k) {
        return kept[k].op == node.op && g.type(kept[k].outputs[0]) == g.type(node.outputs[0]);
      };
      if (const auto twin = std::find_if(views.begin(), views.end(), same); twin != views.end()) {
        now[static_cast<size_t>(node.outputs[0])] = kept[*twin].outputs[0];
        kept[*twin].origin = merge(kept[*twin].origin, node.origin);
        continue;
      }
      views.push_back(kept.size());
    }
    kept.push_back(std::move(node));
  }
  g.nodes = std::move(kept);
  drop_unreferenced_values(g);
}

void infer_layout(PassContext& pass) {
  const auto sink = [&](Graph& g) {
    apply_rules(pass, g,
                {sink_through_elementwise, sink_through_binary, sink_through_movement,
                 sink_through_concat, sink_through_call, kRule<permute_linear_columns>});
  };
  sink(pass.graph);
  turn_states(pass.graph, sink);
  turn_images(pass.graph, !pass.options.contiguous_io);
  apply_rules(pass, pass.graph, {kRule<permute_linear_columns>});
  share_views(pass.graph);
}

}  // namespace deuteron
