// SPDX-License-Identifier: Apache-2.0
// Channels-last throughout: permutes sink towards the outputs, where they meet their opposites and vanish. What reaches an output or hangs
// on an input becomes a dim order of that port. Only a permute that nobody can absorb stays and costs time.
#include <algorithm>
#include <map>
#include <numeric>

#include "ops/families.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "rewrite/borders.h"
#include "rewrite/view_rules.h"

namespace deuteron {

static const Axes kToChannelsLast = {0, 2, 3, 1}, kToChannelsFirst = {0, 3, 1, 2};

// f(permute(x))   becomes   permute(f(x)); reshape likewise
static std::optional<Patch> sink_through_elementwise(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.outputs.empty() || !is_elementwise(node.op)) return std::nullopt;
  const NodeId above = uses.producer[node.inputs[0]];
  const Type& type = g.type(node.outputs[0]);
  if (above < 0 || !is_view(g.nodes[above].op) || type.quant.per_channel() || g.type(node.inputs[0]).quant.per_channel())
    return std::nullopt;
  PatchBuilder b(g, root, "");
  const ValueId y = b.add(node.op, {g.nodes[above].inputs[0]}, type.quant, g.values[node.outputs[0]].name);
  const Op moved = g.nodes[above].op;
  return b.replace_root(b.add(moved, {y}, type.quant));
}

// The permute that makes `v`; null: something else does.
static const Permute* permute_above(const Graph& g, const Uses& uses, ValueId v) { return op_as<Permute>(g, uses.producer[v]); }
static ValueId before_permute(const Graph& g, const Uses& uses, ValueId v) { return g.nodes[uses.producer[v]].inputs[0]; }

// An image that enters channels-first, perhaps quantized on the way, and is wanted channels-last by somebody: its port will change its
// order.
static bool is_input_to_turn(const Graph& g, const Uses& uses, ValueId v) {
  if (g.type(v).rank() != 4) return false;
  while (uses.producer[v] >= 0) {
    const Node& node = g.nodes[uses.producer[v]];
    if (!is_elementwise(node.op)) return false;
    v = node.inputs[0];
  }
  if (g.is_constant(v)) return false;
  std::vector<ValueId> region{v};
  for (size_t i = 0; i < region.size(); ++i)
    for (const NodeId n : uses.readers[region[i]]) {
      if (const Permute* p = op_as<Permute>(g, n); p && p->perm == kToChannelsLast) return true;
      if (is_elementwise(g.nodes[n].op)) region.push_back(g.nodes[n].outputs[0]);
    }
  return false;
}

// v, seen under the axes from before `perm`: nothing when that would cost a movement at run time.
static std::optional<ValueId> unpermuted(const Graph& g, const Uses& uses, PatchBuilder& b, ValueId v, const Axes& perm) {
  if (const Permute* above = permute_above(g, uses, v); above && above->perm == perm) return before_permute(g, uses, v);
  Shape full = g.type(v).shape;
  if (full.size() > perm.size()) return std::nullopt;
  full.insert(full.begin(), perm.size() - full.size(), 1);
  const Axes back = inverse(perm);
  const bool turned = back == kToChannelsLast && is_input_to_turn(g, uses, v);
  if (!is_constant_like(g, uses, v) && !moves_nothing(back, full) && !turned) return std::nullopt;
  const Quant& quant = g.type(v).quant;
  if (full != g.type(v).shape) v = b.add(Reshape{full}, {v}, quant);
  return b.add(Permute{back}, {v}, quant);
}

// f(permute(a), permute(b))   becomes   permute(f(a, b)); a constant, or an operand that a permute would not move, comes along
static std::optional<Patch> sink_through_binary(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!is_binary(node.op)) return std::nullopt;
  const Type& type = g.type(node.outputs[0]);
  for (const ValueId v : node.inputs) {
    const Permute* above = permute_above(g, uses, v);
    if (!above && !is_input_to_turn(g, uses, v)) continue;
    // That permute is the one that the input's port will take over.
    if (above && above->perm == kToChannelsLast && is_input_to_turn(g, uses, before_permute(g, uses, v))) continue;
    const Axes perm = above ? above->perm : kToChannelsFirst;
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

// f(permute(x))   becomes   permute(f(x)), of an operator that can work along other axes: a pad, a reduction, a slice, ..
static std::optional<Patch> sink_through_movement(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.inputs.size() != 1) return std::nullopt;
  const Permute* permute = permute_above(g, uses, node.inputs[0]);
  if (!permute) return std::nullopt;
  const std::optional<Op> moved = reordered(node.op, permute->perm);
  if (!moved) return std::nullopt;
  PatchBuilder b(g, root, "");
  const Quant& quant = g.type(node.outputs[0]).quant;
  const ValueId y = b.add(*moved, {before_permute(g, uses, node.inputs[0])}, quant, g.values[node.outputs[0]].name);
  return b.replace_root(b.add(*permute, {y}, quant));
}

// concat(permute(a), permute(b), ..)   becomes   permute(concat(a, b, ..)); what a permute would not move comes along
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
      if (const std::optional<ValueId> x = unpermuted(g, uses, b, operand, perm)) inputs.push_back(*x);
    if (inputs.size() != node.inputs.size()) continue;
    const Quant& quant = g.type(node.outputs[0]).quant;
    const ValueId y = b.add(*reordered(node.op, perm), std::move(inputs), quant, g.values[node.outputs[0]].name);
    return b.replace_root(b.add(Permute{perm}, {y}, quant));
  }
  return std::nullopt;
}

// linear(reshape(permute(x)), w)   becomes   linear(reshape(x), w with its columns in the other order)
// Refused unless the reshape keeps the first axis and flattens the others, and the permute keeps the first axis too.
static std::optional<Patch> permute_linear_columns(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Linear>(g, root)) return std::nullopt;
  const Node& node = g.nodes[root];
  const NodeId flatten = producer_as<Reshape>(g, uses, node.inputs[0]);
  if (flatten < 0) return std::nullopt;
  const Permute* above = permute_above(g, uses, g.nodes[flatten].inputs[0]);
  if (!above || !is_constant_like(g, uses, node.inputs[1])) return std::nullopt;
  const Axes& perm = above->perm;
  const Shape &flat = g.type(node.inputs[0]).shape, &before = g.type(g.nodes[flatten].inputs[0]).shape;
  if (perm[0] != 0 || flat.size() != 2 || flat[0] != before[0]) return std::nullopt;
  const Type& weight = g.type(node.inputs[1]);
  PatchBuilder b(g, root, "folded into the order of the weight's columns");
  Shape split = before;
  split[0] = weight.shape[0];
  const ValueId columns = b.add(Reshape{split}, {node.inputs[1]}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId moved = b.add(Permute{inverse(perm)}, {columns}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId w = b.add(Reshape{weight.shape}, {moved}, weight.quant, g.values[node.inputs[1]].name);
  const ValueId x = b.add(Reshape{flat}, {before_permute(g, uses, g.nodes[flatten].inputs[0])}, g.type(node.inputs[0]).quant);
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  inputs[1] = w;
  return b.replace_root(node.op, std::move(inputs));
}

static void sink_permutes(PassContext& pass) {
  static constexpr Rule kRules[] = {sink_through_elementwise, sink_through_binary, sink_through_movement, sink_through_concat,
                                    permute_linear_columns};
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), std::begin(kRules), std::end(kRules));
  rewrite(pass.graph, rules, pass.rules());
}

// Can work along an image's axes in the other order, there and back.
static bool can_be_turned(const Op& op) { return reordered(op, kToChannelsLast) && reordered(op, kToChannelsFirst); }

// The values that hang on an input through element-wise operators, pads, slices and gathers alone, and the permutes that read them.
struct InputRegion {
  std::vector<ValueId> values;
  std::vector<NodeId> movements, permutes;
};
static std::optional<InputRegion> region_of(const Graph& g, const Uses& uses, ValueId input) {
  InputRegion region{{input}, {}, {}};
  for (size_t i = 0; i < region.values.size(); ++i) {
    if (uses.output_uses[region.values[i]] != 0 || g.type(region.values[i]).quant.per_channel()) return std::nullopt;
    for (const NodeId n : uses.readers[region.values[i]]) {
      const Permute* p = op_as<Permute>(g, n);
      const bool moves = g.nodes[n].inputs.size() == 1 && g.type(region.values[i]).rank() == 4 && can_be_turned(g.nodes[n].op);
      if (p && p->perm == kToChannelsLast) region.permutes.push_back(n);
      else if (moves || is_elementwise(g.nodes[n].op)) region.values.push_back(g.nodes[n].outputs[0]);
      else return std::nullopt;
      if (moves) region.movements.push_back(n);
    }
  }
  if (region.permutes.empty()) return std::nullopt;
  return region;
}

// input [n,c,h,w] -> .. -> permute   becomes   input stored as [n,h,w,c] -> ..
static void adopt_input_order(Graph& g, Port& port) {
  const std::optional<InputRegion> region = region_of(g, Uses(g), port.value);
  if (!region || !is_identity(port.order)) return;
  for (const ValueId v : region->values) g.values[v].type.shape = permuted(g.values[v].type.shape, kToChannelsLast);
  for (const NodeId n : region->movements) g.nodes[n].op = *reordered(g.nodes[n].op, kToChannelsFirst);
  port.order = kToChannelsLast;
  for (const NodeId n : region->permutes) {
    const ValueId from = g.nodes[n].outputs[0], to = g.nodes[n].inputs[0];
    for (Node& node : g.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    for (Port& output : g.outputs)
      if (output.value == from) output.value = to;
  }
}

// permute -> output [n,c,h,w]   becomes   output stored as [n,h,w,c]
static void adopt_output_order(Graph& g, Port& port) {
  const Uses uses(g);
  const Permute* permute = permute_above(g, uses, port.value);
  if (!permute || !is_identity(port.order) || permute->perm != kToChannelsFirst) return;
  const ValueId stored = before_permute(g, uses, port.value);
  if (uses.producer[stored] < 0) return;
  port.value = stored;
  port.order = kToChannelsLast;
}

// permute(x), and once more   become   one: what each reader was given for itself moves once
static void share_views(Graph& g) {
  std::map<ValueId, std::vector<size_t>> views_of;  // by operand
  std::vector<Node> kept;
  std::vector<ValueId> now(g.values.size());
  std::iota(now.begin(), now.end(), 0);
  const auto is_output = [&](const Node& node) {
    return std::ranges::any_of(g.outputs, [&](const Port& port) { return port.value == node.outputs[0]; });
  };
  for (Node& node : g.nodes) {
    for (ValueId& v : node.inputs) v = now[static_cast<size_t>(v)];
    if (is_view(node.op) && !is_output(node)) {
      std::vector<size_t>& views = views_of[node.inputs[0]];
      const auto same = [&](size_t k) { return kept[k].op == node.op && g.type(kept[k].outputs[0]) == g.type(node.outputs[0]); };
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

static void choose_orders(PassContext& pass) {
  Graph& g = pass.graph;
  sink_permutes(pass);
  if (pass.options.contiguous_io) return;
  const size_t inputs = g.user_inputs().size(), outputs = g.user_outputs().size();  // both ends of a state keep one order
  for (size_t i = 0; i < inputs; ++i) adopt_input_order(g, g.inputs[i]);
  for (size_t o = 0; o < outputs; ++o) adopt_output_order(g, g.outputs[o]);
  remove_dead(g, "absorbed by the dim order of an input or output");
  sink_permutes(pass);
}

void infer_layout(PassContext& pass) {
  choose_orders(pass);
  share_views(pass.graph);
}

}  // namespace deuteron
