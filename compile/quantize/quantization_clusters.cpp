// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/quantization_clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "compile/calibrate/shared_out.h"
#include "compile/quantize/border_scales.h"
#include "compile/quantize/channel_lines.h"
#include "compile/quantize/front_ends.h"
#include "compile/quantize/open_ended.h"
#include "compile/quantize/recurrent.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "ops/kernel_call/number_calls.h"

namespace deuteron {

namespace {

class UnionFind {
 public:
  explicit UnionFind(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  ValueId root(ValueId v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(ValueId a, ValueId b) {
    parent_[std::max(root(a), root(b))] = std::min(root(a), root(b));
  }

 private:
  std::vector<ValueId> parent_;
};

// Null when the node can be quantized, else what stands in the way.
const char* obstacle(const Graph& g, const Node& node, std::span<const QuantSpec> specs) {
  for (const ValueId v : node.outputs)
    if (g.type(v).dtype != DType::f32) return "its result is not float";
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Gran gran = operand_spec(specs, k).gran;
    const bool constant = g.is_constant(node.inputs[k]);
    if (g.type(node.inputs[k]).dtype != DType::f32) return "an operand is not float";
    if (gran == Gran::per_channel && !constant) return "its weight is not a constant";
    if (gran == Gran::derived && !constant) return "its bias is not a constant";
  }
  return nullptr;
}

// Masks and positions at other places: nothing of them was float.
bool moves_no_float(const Graph& g, const Node& node) {
  const Type& type = g.type(node.outputs[0]);
  return is_movement(node.op) && type.dtype != DType::f32 && type.quant.empty();
}

// What a call that does no arithmetic says of the types around it: whether it can work on steps.
bool can_be_int8(const Graph& g, const Node& node, const NumberCall& call) {
  const auto is_float = [&](ValueId v) { return g.type(v).dtype == DType::f32; };
  if (call.use == NumberUse::converted)
    return g.type(node.inputs[0]).dtype == DType::b8 && is_float(node.outputs[0]);
  const auto is_number = [&](size_t k) { return is_float(node.inputs[k]); };
  if (!std::all_of(call.operands.begin(), call.operands.end(), is_number)) return false;
  const auto is_computed = [&](size_t k) { return !g.is_constant(node.inputs[k]); };
  if (call.use == NumberUse::compared)
    return std::any_of(call.operands.begin(), call.operands.end(), is_computed);
  return is_float(node.outputs[0]);
}

}  // namespace

bool passes_numbers_on(const Op& op) {
  if (const auto* call = call_of(op)) {
    const auto known = number_call(call);
    return known && known->use == NumberUse::moved;
  }
  const Values values = facts_of(op).values;
  return (is_movement(op) && values != Values::interpolated) || values == Values::chosen;
}

std::span<const QuantSpec> quant_specs(const Graph& g, const Node& node,
                                       const QuantizeOptions& options, LayerPrecision precision) {
  if (precision == LayerPrecision::int16) return int16_quant_specs(node.op);
  if (precision == LayerPrecision::int16_result) return int16_result_quant_specs(node.op);
  if (precision == LayerPrecision::in_float) return {};
  return options.runs_on_npu && options.runs_on_npu(g, node) ? npu_quant_specs(node.op)
                                                             : quant_specs(node.op);
}

i32 weight_axis(const Node& node, const QuantSpec& spec, const QuantizeOptions& options) {
  return std::holds_alternative<Linear>(node.op) &&
                 options.linear_weights == LinearWeights::by_tensor
             ? -1
             : spec.axis;
}

// By node. What has no int16 form and is asked for stays in float. What is only another view of its
// operand follows who makes that; an input is made by nobody, and follows who reads it.
static std::vector<LayerPrecision> precision_of_nodes(const Graph& g,
                                                      const QuantizeOptions& options) {
  using enum LayerPrecision;
  const bool everywhere = options.precision == Precision::int16;
  std::vector<LayerPrecision> chosen(g.nodes.size(), everywhere ? int16 : int8);
  for (size_t n = 0; everywhere && n < g.nodes.size();
       ++n) {  // a layer with a state has no float kernel, nor a transposed convolution
    const Op& op = g.nodes[n].op;
    if (options.precision_of && !is_same_storage(op) && !is_lowered(op))
      chosen[n] = options.precision_of(g, g.nodes[n]);
    const bool has_no_float =
        !is_lowered(op) && (state_results(op) > 0 || facts_of(op).family == Family::layer);
    if (chosen[n] == int16 && has_no_float && int16_quant_specs(op).empty()) chosen[n] = int8;
  }
  if (everywhere || !options.precision_of) return chosen;
  std::vector<bool> wide_value(g.values.size());
  const auto is_view = [&](size_t n) { return is_same_storage(g.nodes[n].op); };
  std::vector<bool> wanted(g.values.size());  // by an operator, behind views of it
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    if (!is_view(n) && !is_lowered(node.op)) chosen[n] = options.precision_of(g, node);
    const bool wants = is_view(n) ? wanted[node.outputs[0]]
                                  : chosen[n] == int16 && !int16_quant_specs(node.op).empty();
    for (size_t k = 0; wants && k < node.inputs.size(); ++k)
      if (!is_view(n) || k == 0) wanted[node.inputs[k]] = true;
  }
  for (const Port& port : g.inputs) wide_value[port.value] = wanted[port.value];
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (is_view(n)) chosen[n] = wide_value[g.nodes[n].inputs[0]] ? int16 : int8;
    for (const ValueId v : g.nodes[n].outputs)
      wide_value[v] = chosen[n] == int16 || chosen[n] == int16_result;
  }
  return chosen;
}

// What the operators around each value say of it.
struct Marks {
  explicit Marks(size_t count)
      : any(count), symmetric(count), is_made(count), dtype(count, DType::s8) {}
  // makes: an operator whose result it is, which decides; without one it is int16 if any reader
  // wants that.
  void add(const Graph& g, ValueId v, const QuantSpec& spec, bool makes) {
    if (g.is_constant(v) || spec.gran == Gran::none) return;
    any[v] = true;
    if (makes || (!is_made[v] && spec.dtype == DType::s16)) dtype[v] = spec.dtype;
    is_made[v] = is_made[v] || makes;
    symmetric[v] = symmetric[v] || (spec.symmetric && spec.dtype == dtype[v]);
  }
  std::vector<bool> any, symmetric, is_made;
  std::vector<DType> dtype;
};

static void gather_clusters(QuantizationPlan& plan, const Marks& marks, UnionFind& same) {
  std::map<ValueId, i32> cluster_of_root;
  for (ValueId v = 0; v < static_cast<ValueId>(plan.cluster_of.size()); ++v) {
    if (!marks.any[v]) continue;
    const auto [entry, added] =
        cluster_of_root.emplace(same.root(v), static_cast<i32>(plan.clusters.size()));
    if (added) plan.clusters.emplace_back();
    Cluster& cluster = plan.clusters[entry->second];
    cluster.members.push_back(v);
    cluster.symmetric = cluster.symmetric || marks.symmetric[v];
    cluster.dtype = marks.dtype[v];
    if (plan.fixed[v] && !cluster.fixed) cluster.fixed = plan.fixed[v];
    plan.cluster_of[v] = entry->second;
  }
}

// Values that have the same parameters if they are of one dtype. `among`: the operator that reads
// `a` beside other operands and needs them in the same steps, so that rounding once more can stand
// for the join; -1: none.
struct Join {
  ValueId a, b;
  NodeId among = -1;
};

static std::map<ValueId, Cluster> joined_values(const Marks& marks, UnionFind& same) {
  std::map<ValueId, Cluster> clusters;
  for (ValueId v = 0; v < static_cast<ValueId>(marks.any.size()); ++v)
    if (marks.any[v]) clusters[same.root(v)].members.push_back(v);
  return clusters;
}

// What a user sees, or another operator computes with. Where sharing with other operands would make
// its steps twice as coarse or more, it and what is joined to it in other ways keep steps of their
// own, and who reads it among others rounds it once more: to steps that are at least as coarse.
static void give_own_steps(const Graph& g, const Marks& marks,
                           std::span<const Observation> observations, std::vector<Join>& joins) {
  constexpr double kCoarser = 2;
  const auto is_among = [](const Join& j) { return j.among >= 0; };
  if (observations.empty() || std::none_of(joins.begin(), joins.end(), is_among)) return;
  UnionFind same(g.values.size()), moved(g.values.size());
  for (const Join& j : joins) {
    if (marks.dtype[j.a] != marks.dtype[j.b]) continue;
    same.join(j.a, j.b);
    if (!is_among(j)) moved.join(j.a, j.b);
  }
  const Uses uses(g);
  const auto span = [](const Observation& o) {
    return std::max(0.0, double{o.high}) - std::min(0.0, double{o.low});
  };
  const std::map<ValueId, Cluster> clusters = joined_values(marks, same);
  std::set<NodeId> among;
  for (const Join& j : joins) among.insert(j.among);
  const auto computes_with = [&](NodeId n) {
    return !among.contains(n) && !passes_numbers_on(g.nodes[n].op);
  };
  std::map<ValueId, double>
      spans;  // of clusters, by root: a concatenation has as many members as operands
  const auto span_of_all = [&](ValueId root) {
    const auto [entry, added] = spans.emplace(root, 0);
    if (added) entry->second = span(observed(g, uses, clusters.at(root), observations));
    return entry->second;
  };
  std::set<ValueId> apart;
  for (ValueId v = 0; v < static_cast<ValueId>(g.values.size()); ++v) {
    if (!marks.any[v] || !observations[v].seen || span(observations[v]) == 0) continue;
    if (uses.output_uses[v] == 0 && std::ranges::none_of(uses.readers[v], computes_with)) continue;
    if (span_of_all(same.root(v)) >= kCoarser * span(observations[v])) apart.insert(moved.root(v));
  }
  std::erase_if(joins, [&](const Join& j) {
    const bool to_result = is_among(j) && j.b == g.nodes[j.among].outputs[0];
    return is_among(j) &&
           (apart.contains(moved.root(j.a)) || (!to_result && apart.contains(moved.root(j.b))));
  });
}

static void mark_number_call(const Graph& g, const Node& node, const NumberCall& call, Marks& marks,
                             std::vector<Join>& joined) {
  static constexpr QuantSpec kSteps{DType::s8, Gran::per_tensor};
  if (call.use != NumberUse::compared) marks.add(g, node.outputs[0], kSteps, true);
  for (const size_t k : call.operands) {
    marks.add(g, node.inputs[k], kSteps, false);
    if (call.use == NumberUse::moved && !g.is_constant(node.inputs[k]))
      joined.push_back({node.inputs[k], node.outputs[0]});
  }
}

static void mark_operator(const Graph& g, NodeId n, std::span<const QuantSpec> specs, Marks& marks,
                          std::vector<Join>& joined) {
  const Node& node = g.nodes[n];
  // Operands and results that share parameters share those of the first operand that is computed.
  const auto computed = std::find_if(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId v) { return !g.is_constant(v); });
  const ValueId first = computed == node.inputs.end() ? -1 : *computed;
  const QuantSpec& result = result_spec(specs);
  const NodeId among =
      node.inputs.size() > 1 && operand_spec(specs, 1).gran == Gran::shared ? n : -1;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const QuantSpec& spec = operand_spec(specs, k);
    if (spec.gran == Gran::per_channel || spec.gran == Gran::derived) continue;
    marks.add(g, node.inputs[k], spec, false);
    if (spec.gran != Gran::shared || g.is_constant(node.inputs[k])) continue;
    joined.push_back({node.inputs[k], first, among});
    if (result.gran == Gran::shared)
      joined.push_back(
          {node.inputs[k], node.outputs[0], among});  // where the first is of the other dtype
  }
  for (i64 k = 1; k < state_results(node.op); ++k)
    joined.push_back({node.outputs[k], node.outputs[0]});
  for (const ValueId v : node.outputs) {
    marks.add(g, v, result, true);
    if (result.gran == Gran::shared && first >= 0) joined.push_back({first, v, among});
  }
}

// What works on steps: a call that does no arithmetic, or an operator with `specs`.
static bool can_be_quantized(const Graph& g, const Node& node, std::span<const QuantSpec> specs,
                             const QuantizeOptions& options) {
  const auto call = number_call(call_of(node.op));
  if (call && options.precision == Precision::int8 && can_be_int8(g, node, *call)) return true;
  return !specs.empty() && !moves_no_float(g, node) && !obstacle(g, node, specs);
}

// By node: it only moves numbers from operators in float to operators in float, and steps between
// those would lose what they keep.
static std::vector<bool> moves_in_float(const Graph& g, const std::vector<bool>& in_float) {
  const Uses uses(g);
  std::vector<bool> moves(g.nodes.size());
  for (size_t n = 0; n < g.nodes.size(); ++n)
    moves[n] = !in_float[n] && only_moves(g.nodes[n]) &&
               uses.output_uses[g.nodes[n].outputs[0]] == 0 &&
               !uses.readers[g.nodes[n].outputs[0]].empty();
  const auto is_float = [&](NodeId n) {
    return n >= 0 && (in_float[static_cast<size_t>(n)] || moves[static_cast<size_t>(n)]);
  };
  const auto is_between = [&](const Node& node) {
    return std::ranges::all_of(
               node.inputs,
               [&](ValueId v) { return g.is_constant(v) || is_float(uses.producer[v]); }) &&
           std::ranges::all_of(uses.readers[node.outputs[0]], is_float);
  };
  UnionFind chain(g.values.size());  // moves behind one another stay together
  const auto moved_again = [&](ValueId v) {
    return uses.producer[v] >= 0 && moves[static_cast<size_t>(uses.producer[v])];
  };
  for (size_t n = 0; n < g.nodes.size(); ++n)
    for (const ValueId v : g.nodes[n].inputs)
      if (moves[n] && moved_again(v)) chain.join(v, g.nodes[n].outputs[0]);
  std::vector<bool> meets_steps(g.values.size());
  for (size_t n = 0; n < g.nodes.size(); ++n)
    if (moves[n] && !is_between(g.nodes[n])) meets_steps[chain.root(g.nodes[n].outputs[0])] = true;
  for (size_t n = 0; n < g.nodes.size(); ++n)
    moves[n] = moves[n] && !meets_steps[chain.root(g.nodes[n].outputs[0])];
  return moves;
}

// By node; null: nothing keeps it in float on purpose.
static std::vector<const char*> reasons_for_float(const Graph& g, const QuantizeOptions& options,
                                                  const std::vector<LayerPrecision>& precision) {
  std::vector<const char*> why(g.nodes.size());
  const auto say = [&](const std::vector<bool>& nodes, const char* reason) {
    for (size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n] && !why[n]) why[n] = reason;
  };
  say(border_nodes(g), "parts of an input or output have scales of their own");
  if (options.may_use_float) say(open_ended_scores(g), "a score without an upper end");
  if (options.may_use_float) say(becomes_integers(g), "it becomes an integer");
  if (options.front_ends_in_float) say(front_ends(g), "it leads to a logarithm or an integer");
  std::vector<bool> in_float(g.nodes.size());
  for (size_t n = 0; n < g.nodes.size(); ++n)
    in_float[n] =
        why[n] || !can_be_quantized(g, g.nodes[n],
                                    quant_specs(g, g.nodes[n], options, precision[n]), options);
  if (options.may_use_float)
    say(moves_in_float(g, in_float), "it moves numbers between operators in float");
  return why;
}

QuantizationPlan plan_quantization(const Graph& g, const QuantizeOptions& options,
                                   Diagnostics& diagnostics,
                                   std::span<const Observation> observations) {
  QuantizationPlan plan;
  plan.quantized.resize(g.nodes.size());
  plan.cluster_of.assign(g.values.size(), -1);
  plan.fixed.resize(g.values.size());
  plan.precision = precision_of_nodes(g, options);
  UnionFind same(g.values.size());
  Marks marks(g.values.size());
  std::vector<Join> joined;
  plan.why_float = reasons_for_float(g, options, plan.precision);
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (plan.why_float[n]) continue;
    const Node& node = g.nodes[n];
    if (const auto call = number_call(call_of(node.op));
        call && options.precision == Precision::int8 && can_be_int8(g, node, *call)) {
      plan.quantized[n] = true;
      mark_number_call(g, node, *call, marks, joined);
      continue;
    }
    const std::span<const QuantSpec> specs = quant_specs(g, node, options, plan.precision[n]);
    if (specs.empty()) {
      if (plan.precision[n] == LayerPrecision::in_float) plan.why_float[n] = "--layer says so";
      continue;
    }
    if (moves_no_float(g, node)) continue;
    if (const char* why = obstacle(g, node, specs)) {
      diagnostics.warning(fmt::format("{}: {}", g.name, describe(g, node)),
                          fmt::format("stays in float: {}", why), "quantize.operand");
      continue;
    }
    plan.quantized[n] = true;
    mark_operator(g, static_cast<NodeId>(n), specs, marks, joined);
    if (const QuantSpec& result = result_spec(specs); result.gran == Gran::fixed)
      for (const ValueId v : node.outputs) plan.fixed[v] = result;
  }
  give_own_steps(g, marks, observations, joined);
  for (const Join& j : joined)
    if (marks.dtype[j.a] == marks.dtype[j.b]) same.join(j.a, j.b);
  for (size_t k = 0; k < g.states.size(); ++k) {  // what a step leaves behind the next one reads
    const ValueId before = g.state_inputs()[k].value, after = g.state_outputs()[k].value;
    if (marks.any[before] && marks.any[after] && marks.dtype[before] == marks.dtype[after])
      same.join(before, after);
  }
  gather_clusters(plan, marks, same);
  return plan;
}

// The constant whose numbers are looked up to make `v`; -1: none is. Samples read some of its rows.
static ValueId table_of(const Graph& g, const Uses& uses, ValueId v) {
  if (uses.producer[v] < 0) return -1;
  const Node& maker = g.nodes[uses.producer[v]];
  const auto call = number_call(call_of(maker.op));
  if (!call || call->use != NumberUse::moved || call->operands.size() != 1) return -1;
  const ValueId table = maker.inputs[call->operands[0]];
  return g.is_constant(table) ? table : -1;
}

static bool has_member(const Cluster& cluster, ValueId v) {
  return std::ranges::binary_search(cluster.members, v);
}

Observation observed(const Graph& g, const Uses& uses, const Cluster& cluster,
                     std::span<const Observation> observations) {
  std::deque<Observation> made;
  std::vector<const Observation*> parts;
  for (const ValueId v : cluster.members) {
    if (!observations[v].seen) continue;
    if (const ValueId table = table_of(g, uses, v); table >= 0)
      parts.push_back(&made.emplace_back(observed_constant(g.values[table].constant->as<float>())));
    bool counts = uses.output_uses[v] > 0;
    Bounds useful;
    if (uses.producer[v] >= 0 && state_results(g.nodes[uses.producer[v]].op) > 0)
      counts = true;                                  // the next step reads it
    if (!counts) useful = {useful.high, useful.low};  // nothing yet
    for (const NodeId n : uses.readers[v]) {
      const Op& op = g.nodes[n].op;
      if (passes_numbers_on(op) && has_member(cluster, g.nodes[n].outputs[0])) continue;
      Bounds b = facts_of(op).useful;
      if (shared_axis(op) >= 0 && cluster.dtype == DType::s8)
        b.low = observations[v].lowest_seen.value_or(b.low);
      useful = {std::min(useful.low, b.low), std::max(useful.high, b.high)};
      counts = true;
    }
    const bool is_whole = useful.low <= observations[v].low && useful.high >= observations[v].high;
    if (counts)
      parts.push_back(is_whole
                          ? &observations[v]
                          : &made.emplace_back(bounded(observations[v], useful.low, useful.high)));
  }
  if (parts.empty())  // nobody reads them
    for (const ValueId v : cluster.members) parts.push_back(&observations[v]);
  Observation all = merged(parts);
  for (const ValueId v : cluster.members) {
    const std::optional<ByteGrid>& bytes = observations[v].bytes;
    if (bytes && bytes->low <= all.low && all.high <= bytes->low + 255.5f * bytes->step)
      all.bytes = bytes;
  }
  return all;
}

Bounds reach(const Graph& g, const Uses& uses, const Cluster& cluster) {
  Bounds all;
  std::swap(all.low, all.high);  // nothing yet
  for (const ValueId v : cluster.members) {
    const NodeId n = uses.producer[v];
    const auto is_member = [&](ValueId operand) { return has_member(cluster, operand); };
    if (n >= 0 && passes_numbers_on(g.nodes[n].op) &&
        std::ranges::any_of(g.nodes[n].inputs, is_member))
      continue;
    const Bounds* bounds = n >= 0 ? bounds_of(g.nodes[n].op) : nullptr;
    const Bounds mine = bounds ? *bounds : Bounds{};
    all = {std::min(all.low, mine.low), std::max(all.high, mine.high)};
  }
  if (all.low > all.high) return {};  // what makes them is of the other type
  return all;
}

bool fixed_steps_hold(const QuantizationPlan& plan, const Cluster& cluster, const Observation& seen,
                      std::span<const Observation> observations) {
  if (!seen.seen) return true;
  const QuantSpec& fixed = *cluster.fixed;
  const auto value = [&](float step) {
    return fixed.fixed_scale * (step - static_cast<float>(fixed.fixed_zero));
  };
  const float most = fixed.dtype == DType::s16 ? 32768 : 128;
  Bounds held{value(-most - 0.5f), value(most - 0.5f)};
  for (const ValueId v : cluster.members)
    if (plan.fixed[v])
      held = {std::min(held.low, observations[v].low), std::max(held.high, observations[v].high)};
  return seen.low >= std::max(held.low, value(-most - 1)) &&
         seen.high <= std::min(held.high, value(most));
}

}  // namespace deuteron
