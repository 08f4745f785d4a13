// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/insert_quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compile/calibrate/each_sample.h"
#include "compile/quantize/channel_sizes.h"
#include "compile/quantize/int16_weights.h"
#include "compile/quantize/int4_weights.h"
#include "compile/quantize/mean_at_zero.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/quantized_weights.h"
#include "compile/quantize/round_weights.h"
#include "ops/families.h"
#include "ops/kernel_call/number_calls.h"

namespace deuteron {

namespace {

struct Steps {
  i32 low, high;
};
Steps steps_of(DType d) { return d == DType::s16 ? Steps{-32768, 32767} : Steps{-128, 127}; }

class Inserter {
 public:
  Inserter(Graph& g, const std::vector<Observation>& observations, const QuantizeOptions& options,
           Diagnostics& diagnostics)
      : g_(g),
        observations_(observations),
        options_(options),
        diagnostics_(diagnostics),
        uses_(g),
        plan_(plan_quantization(g, options, diagnostics, observations)) {}

  std::vector<QuantizedValue> run() {
    DEUTERON_CHECK(
        observations_.size() == g_.values.size(),
        fmt::format("{} observations, {} values", observations_.size(), g_.values.size()));
    choose_parameters();
    choose_narrow_forms();
    rewrite();
    return std::move(report_);
  }

 private:
  Quant own_parameters(ValueId v) const {
    const Quant& shared = parameters_[plan_.cluster_of[v]];
    const QuantSpec* fixed = plan_.fixed[v] ? &*plan_.fixed[v] : nullptr;
    if (!fixed ||
        (shared.scale[0] == fixed->fixed_scale && shared.zero_point[0] == fixed->fixed_zero))
      return shared;
    const Steps steps = steps_of(fixed->dtype);
    return per_tensor(fixed->fixed_scale, fixed->fixed_zero, steps.low, steps.high);
  }
  Type steps_type(ValueId v, const Quant& q) const {
    return {plan_.clusters[plan_.cluster_of[v]].dtype, g_.type(v).shape, q};
  }

  void choose_parameters() {
    const size_t count = plan_.clusters.size();
    parameters_.resize(count);
    std::vector<Observation> seen(count);
    std::vector<ActivationQuant> chosen(count);
    for_each_sample(count, 0, [&](size_t c, int) {
      Cluster& cluster = plan_.clusters[c];
      const Steps steps = steps_of(cluster.dtype);
      seen[c] = observed(g_, uses_, cluster, observations_);
      if (cluster.fixed && !fixed_steps_hold(plan_, cluster, seen[c], observations_))
        cluster.fixed.reset();
      if (cluster.fixed) {
        chosen[c].scale = cluster.fixed->fixed_scale;
        chosen[c].zero_point = cluster.fixed->fixed_zero;
      } else if (const auto exact = seen[c].bytes
                                        ? choose(*seen[c].bytes, cluster.symmetric, steps.low)
                                        : std::nullopt) {
        chosen[c] = *exact;
      } else {
        chosen[c] = chosen_for(cluster, seen[c]);
      }
      // What is never negative leaves the sums behind it twice the room: ops/int16.h.
      const bool is_positive = cluster.dtype == DType::s16 && reach(g_, uses_, cluster).low >= 0;
      parameters_[c] = per_tensor(chosen[c].scale, chosen[c].zero_point,
                                  is_positive ? 0 : steps.low, steps.high);
    });
    for (size_t c = 0; c < count; ++c) {
      warn(plan_.clusters[c], seen[c], chosen[c]);
      for (const ValueId v : plan_.clusters[c].members)
        report_.push_back({g_.values[v].name, observations_[v].low, observations_[v].high,
                           chosen[c], plan_.clusters[c].members.size() > 1,
                           plan_.clusters[c].fixed.has_value(), static_cast<i32>(c),
                           plan_.clusters[c].symmetric});
    }
  }

  ActivationQuant chosen_for(const Cluster& cluster, const Observation& seen) const {
    const Steps steps = steps_of(cluster.dtype);
    const bool among_int8 = cluster.dtype == DType::s16 && options_.precision == Precision::int8;
    const std::optional<Observer> observer = among_int8 ? Observer::min_max : options_.observer;
    ActivationQuant chosen = choose(seen, observer.value_or(Observer::histogram), cluster.symmetric,
                                    steps.low, steps.high);
    const ActivationQuant plain =
        choose(seen, Observer::min_max, cluster.symmetric, steps.low, steps.high);
    if (!observer && plain.mean_squared_error <= chosen.mean_squared_error) chosen = plain;
    widen(chosen, cluster, seen, steps,
          among_int8 ? kWideMargin : std::max(options_.margin, margin_of(cluster)));
    return chosen;
  }

  // Channels of an input or an output that were brought to one size.
  double margin_of(const Cluster& cluster) const {
    const auto is_affine = [&](NodeId n) { return is_float_by_channel(g_.nodes[n].op); };
    const auto is_sized = [&](ValueId v) {
      const NodeId maker = uses_.producer[v];
      const bool is_input =
          maker >= 0 && is_affine(maker) && observations_[v].channel_low.size() > 1;
      const bool is_output =
          !uses_.readers[v].empty() && std::ranges::all_of(uses_.readers[v], is_affine);
      return is_input || is_output;
    };
    const Observation& first = observations_[cluster.members[0]];
    const double room = is_sized(cluster.members[0]) && fills_each_channel(first)
                            ? room_of(first, first.channel_low.size())
                            : 0;
    return std::ranges::any_of(cluster.members, is_sized) ? std::max(room, options_.sized_margin)
                                                          : room;
  }

  void widen(ActivationQuant& chosen, const Cluster& cluster, const Observation& seen,
             const Steps& steps, double margin) const {
    const Bounds possible = reach(g_, uses_, cluster);
    const RangeFactors factors{seen.low > possible.low ? 1 + margin : 1,
                               seen.high < possible.high ? 1 + margin : 1};
    if ((factors.low == 1 && factors.high == 1) || chosen.scale <= kLeastScale)
      return;  // steps that are too coarse already reach further
    chosen = widened(chosen, factors, cluster.symmetric, steps.low, steps.high);
    chosen.mean_squared_error =
        mean_squared_error(seen, chosen.scale, chosen.zero_point, steps.low, steps.high);
  }

  // What int8 operators read of values that are int16: they have parameters of their own there.
  void choose_narrow_forms() {
    narrow_.resize(g_.values.size());
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      if (!plan_.quantized[n] || plan_.precision[n] == LayerPrecision::int16) continue;
      const bool is_call = call_of(node.op) != nullptr;
      const std::span<const QuantSpec> specs =
          is_call ? std::span<const QuantSpec>()
                  : quant_specs(g_, node, options_, plan_.precision[n]);
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        const ValueId v = node.inputs[k];
        if (plan_.cluster_of[v] < 0 || plan_.clusters[plan_.cluster_of[v]].dtype != DType::s16)
          continue;
        const bool symmetric = !is_call && operand_spec(specs, k).symmetric;
        if (narrow_[v] && (!symmetric || narrow_[v]->zero_point[0] == 0)) continue;
        const Cluster own{{v}, std::nullopt, symmetric, DType::s8};
        const ActivationQuant q = chosen_for(own, observed(g_, uses_, own, observations_));
        narrow_[v] = per_tensor(q.scale, q.zero_point);
      }
    }
  }

  std::string where(ValueId v) const {
    const NodeId n = uses_.producer[v];
    return n >= 0 ? fmt::format("{}: {}", g_.name, describe(g_, g_.nodes[n]))
                  : fmt::format("{}: input `{}`", g_.name, g_.values[v].name);
  }

  void warn(const Cluster& cluster, const Observation& seen, const ActivationQuant& chosen) {
    if (cluster.fixed || !seen.seen) return;
    const char* advice = "calibrate with data that is like what the device will see";
    if (seen.low == seen.high)
      return diagnostics_.warning(
          where(cluster.members[0]),
          fmt::format("is {} for every calibration sample, so nothing is known about its range",
                      seen.low),
          "calibrate.constant", advice);
    const double finest = (std::max(0.0, static_cast<double>(seen.high)) -
                           std::min(0.0, static_cast<double>(seen.low))) /
                          255;
    if (finest < 0x1p-23)
      diagnostics_.warning(
          where(cluster.members[0]),
          fmt::format("has only values within {} .. {}; the finest scale is 2^-23, so {} of 256 "
                      "steps are used",
                      seen.low, seen.high, std::max(1L, std::lround(finest * 255 / chosen.scale))),
          "calibrate.tiny_range", "scale the model's values up");
  }

  // ---- rewriting: the old nodes in their order, with quantize behind and dequantize in front

  ValueId push(Op op, ValueId operand, Type type, std::string name, const Origin& origin) {
    const ValueId v = g_.add_value(std::move(name), std::move(type));
    nodes_.push_back({std::move(op), {operand}, {v}, origin});
    return v;
  }
  ValueId quantize(ValueId from, const Quant& q, ValueId named_after, const Origin& origin) {
    return push(Quantize{q}, from, steps_type(named_after, q), g_.values[named_after].name + "_q",
                origin);
  }
  ValueId dequantize(ValueId from, const Origin& origin) {
    const Shape shape = g_.type(from).shape;
    return push(Dequantize{}, from, Type{DType::f32, shape, {}}, g_.values[from].name + "_dq",
                origin);
  }

  void rewrite() {
    std::vector<Node> old = std::move(g_.nodes);
    g_.nodes.clear();
    quantized_value_.assign(g_.values.size(), -1);
    for (const Port& port : g_.inputs) {
      const ValueId v = port.value;
      if (v >= static_cast<ValueId>(plan_.cluster_of.size()) || plan_.cluster_of[v] < 0 ||
          quantized_value_[v] >= 0)
        continue;
      for (const NodeId n : uses_.readers[v])
        if (plan_.quantized[n]) {
          quantized_value_[v] = quantize(v, own_parameters(v), v, old[n].origin);
          break;
        }
    }
    for (size_t n = 0; n < old.size(); ++n) {
      Node node = std::move(old[n]);
      if (plan_.quantized[n] && call_of(node.op)) quantize_numbers(node);
      else if (plan_.quantized[n])
        quantize_operands(node, quant_specs(g_, node, options_, plan_.precision[n]),
                          moments_of(n, node));
      else
        for (ValueId& v : node.inputs)
          if (lives_as_int8(v)) v = dequantize(quantized_value_[v], node.origin);
      const std::vector<ValueId> results = node.outputs;
      const Origin origin = node.origin;
      nodes_.push_back(std::move(node));
      for (const ValueId v : results)
        if (plan_.cluster_of[v] >= 0)
          quantized_value_[v] = quantize(v, own_parameters(v), v, origin);
    }
    for (Port& port : g_.outputs)
      if (lives_as_int8(port.value)) {
        const Origin origin =
            nodes_[static_cast<size_t>(producer_of(quantized_value_[port.value]))].origin;
        port.value =
            dequantize(shared_by_state(port, quantized_value_[port.value], origin), origin);
      }
    g_.nodes = std::move(nodes_);
    remove_dead(g_, "not used");
  }

  // A state has the parameters of its cluster: a result with fixed ones is rounded once more.
  ValueId shared_by_state(const Port& port, ValueId q, const Origin& origin) {
    const auto k =
        &port - g_.outputs.data() - static_cast<std::ptrdiff_t>(g_.user_outputs().size());
    if (k < 0) return q;
    const ValueId before = g_.state_inputs()[static_cast<size_t>(k)].value;
    const i32 cluster = plan_.cluster_of[before];
    if (cluster < 0 || cluster != plan_.cluster_of[port.value]) return q;
    const Quant own = own_parameters(before);
    return g_.type(q).quant == own ? q : quantize(dequantize(q, origin), own, port.value, origin);
  }

  // The float form of v does not exist on the device: an int8 operator makes it.
  bool lives_as_int8(ValueId v) const {
    const NodeId n = uses_.producer[v];
    return plan_.cluster_of[v] >= 0 && n >= 0 && plan_.quantized[n];
  }
  i64 producer_of(ValueId v) const {
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].outputs[0] == v) return static_cast<i64>(n);
    return -1;
  }

  // Null: its weights are rounded one by one. What several layers read is rounded for none of them.
  const InputMoments* moments_of(size_t n, const Node& node) const {
    if (!options_.moments || (*options_.moments)[n].empty() ||
        uses_.readers[node.inputs[1]].size() != 1)
      return nullptr;
    return &(*options_.moments)[n];
  }

  void quantize_operands(Node& node, std::span<const QuantSpec> specs,
                         const InputMoments* moments) {
    const bool shares = result_spec(specs).gran == Gran::shared;
    const std::vector<ValueId> operands = node.inputs;
    const ValueId result = node.outputs[0];
    Quant of_first;
    for (size_t k = 0; k < operands.size(); ++k) {
      const QuantSpec& spec = operand_spec(specs, k);
      const ValueId v = operands[k];
      if (spec.gran == Gran::none) continue;
      if (spec.gran == Gran::per_channel || spec.gran == Gran::derived)
        continue;  // together, below
      if (g_.is_constant(v)) {
        const i32 cluster = plan_.cluster_of[node.outputs[0]];
        // a constant part of a concatenation
        const bool follows = shares && operands.size() > 1 && cluster >= 0;
        node.inputs[k] =
            constant_operand(v, follows ? parameters_[cluster] : constant_parameters(v, spec),
                             spec.dtype, node.origin);
      } else {
        node.inputs[k] = steps_operand(
            v, spec.dtype, shares || spec.gran == Gran::shared ? result : -1, node.origin);
      }
      if (k == 0) of_first = g_.type(nodes_.back().inputs[0]).quant;
    }
    if (operands.size() > 1 && operand_spec(specs, 1).gran == Gran::per_channel)
      quantize_weight_and_bias(node, operands, of_first, operand_spec(specs, 1), moments);
    const bool is_table = operands.size() == 1 && !g_.is_constant(operands[0]) &&
                          operand_spec(specs, 0).dtype == DType::s8 && !on_npu(node);
    if (is_table && plan_.cluster_of[result] >= 0 &&
        plan_.clusters[plan_.cluster_of[result]].dtype == DType::s8)
      if (auto op = with_mean_at_zero(node.op, observations_[operands[0]], observations_[result],
                                      of_first, own_parameters(result)))
        node.op = *std::move(op);
  }
  bool on_npu(const Node& node) const {
    return options_.runs_on_npu && options_.runs_on_npu(g_, node);
  }

  // v as the other of int8 and int16. What shares its parameters with a result gets those; int8 as
  // int16 is exact otherwise.
  ValueId converted(ValueId v, DType dtype, ValueId shared_with, const Origin& origin) {
    constexpr i32 kStepsOfOne = 128;  // of the finer type for one of the coarser: the largest
                                      // distance of two int8 numbers fits
    const Quant& from = g_.type(quantized_value_[v]).quant;
    Quant to;
    if (shared_with >= 0) to = parameters_[plan_.cluster_of[shared_with]];
    else if (dtype == DType::s8) to = *narrow_[v];
    else
      to = per_tensor(from.scale[0] / kStepsOfOne, 0, (from.low - from.zero_point[0]) * kStepsOfOne,
                      (from.high - from.zero_point[0]) * kStepsOfOne);
    const auto equal = [&](const auto& c) {
      return c.first == v && g_.type(c.second).dtype == dtype && g_.type(c.second).quant == to;
    };
    if (const auto known = std::ranges::find_if(converted_, equal); known != converted_.end())
      return known->second;
    const std::string name = g_.values[v].name + (dtype == DType::s16 ? "_q16" : "_q8");
    const ValueId real = dequantize(quantized_value_[v], origin);
    converted_.emplace_back(
        v, push(Quantize{to}, real, Type{dtype, g_.type(v).shape, to}, name, origin));
    return converted_.back().second;
  }

  // shared_with: the result that must have the operand's parameters; -1: none.
  ValueId steps_operand(ValueId v, DType dtype, ValueId shared_with, const Origin& origin) {
    ValueId q = quantized_value_[v];
    if (g_.type(q).dtype != dtype)
      return dequantize(converted(v, dtype, shared_with, origin), origin);
    // A fixed result inside a cluster with other parameters, or an output with its own, is rounded
    // once more on the way in.
    if (shared_with < 0) return dequantize(q, origin);
    const ValueId like =
        g_.type(q).dtype == plan_.clusters[plan_.cluster_of[shared_with]].dtype ? shared_with : v;
    const Quant& cluster = parameters_[plan_.cluster_of[like]];
    if (g_.type(q).quant != cluster) q = quantize(dequantize(q, origin), cluster, v, origin);
    return dequantize(q, origin);
  }

  // Constants get the steps of what they become with the call: fold_number_calls
  // (compile/simplify/fold_number_calls.h).
  void quantize_numbers(Node& node) {
    const NumberCall call = *number_call(call_of(node.op));
    for (const size_t k : call.operands)
      if (!g_.is_constant(node.inputs[k]))
        node.inputs[k] =
            steps_operand(node.inputs[k], DType::s8,
                          call.use == NumberUse::moved ? node.outputs[0] : -1, node.origin);
  }

  // of_x: the parameters that its first operand is read with.
  void quantize_weight_and_bias(Node& node, const std::vector<ValueId>& operands, const Quant& of_x,
                                const QuantSpec& spec, const InputMoments* moments) {
    const Type weight = g_.type(operands[1]);
    const std::span<const float> data = g_.values[operands[1]].constant->as<float>();
    std::vector<float> bias;
    if (operands.size() > 2) {
      const std::span<const float> given = g_.values[operands[2]].constant->as<float>();
      bias.assign(given.begin(), given.end());
    }
    if (spec.dtype == DType::s16) return quantize_to_int16(node, operands, of_x, bias);
    if (is_int4(node)) return quantize_to_int4(node, operands, of_x, bias, moments);
    Quant q = weight_quant(data, weight.shape, weight_axis(node, spec, options_),
                           options_.weight_low, 127);
    make_room_for_bias(q, of_x.scale[0], bias);
    std::vector<float> loss;
    if (moments) {
      std::vector<int8_t> rounded = options_.rounded ? options_.rounded->of(data, q, *moments)
                                                     : round_weights(data, q, *moments);
      loss = mean_loss(data, rounded, q, *moments);
      const ValueId integers =
          g_.add_value(g_.values[operands[1]].name + "_q", Type{DType::s8, weight.shape, q},
                       constant_of(std::move(rounded)));
      node.inputs[1] = dequantize(integers, node.origin);
    } else {
      node.inputs[1] = constant_operand(operands[1], q, DType::s8, node.origin);
      const Constant& rounded = *g_.values[integers_.back().second].constant;
      loss = loss_of(node, operands, rounded, q);
    }
    add_loss(bias, loss);
    set_bias(node, operands, of_x.scale[0], q, bias);
  }

  bool is_int4(const Node& node) const {
    return options_.has_int4_weights && has_int4_form(g_, node) &&
           options_.has_int4_weights(g_, node);
  }
  void quantize_to_int4(Node& node, const std::vector<ValueId>& operands, const Quant& of_x,
                        std::vector<float> bias, const InputMoments* moments) {
    const Type weight = g_.type(operands[1]);
    const std::span<const float> data = g_.values[operands[1]].constant->as<float>();
    Quant q = int4_weight_quant(data, weight.shape, moments);
    make_room_for_bias(q, of_x.scale[0], bias);
    const Int4Factors factors = int4_factors(data, weight.shape, q, moments);
    std::vector<int8_t> rounded = !moments ? round_to_int4(data, q, factors)
                                  : options_.rounded
                                      ? options_.rounded->of(data, q, *moments, &factors)
                                      : round_weights(data, q, *moments, &factors);
    const std::vector<float> of_moments =
        moments ? mean_loss(data, rounded, q, *moments) : std::vector<float>();
    const ValueId integers =
        g_.add_value(g_.values[operands[1]].name + "_q", Type{DType::s8, weight.shape, q},
                     constant_of(std::move(rounded)));
    node.inputs[1] = dequantize(integers, node.origin);
    add_loss(bias,
             moments ? of_moments : loss_of(node, operands, *g_.values[integers].constant, q));
    set_bias(node, operands, of_x.scale[0], q, bias);
  }

  static void add_loss(std::vector<float>& bias, const std::vector<float>& loss) {
    bias.resize(std::max(bias.size(), loss.size()));
    for (size_t c = 0; c < loss.size(); ++c) bias[c] += loss[c];
  }

  // What rounding the weights takes from the mean of each result; empty where it is not to be
  // corrected.
  std::vector<float> loss_of(const Node& node, const std::vector<ValueId>& operands,
                             const Constant& rounded, const Quant& q) const {
    const ValueId x = operands[0], w = operands[1];
    if (!options_.correct_bias || g_.is_constant(x) || observations_[x].channel_mean.empty())
      return {};
    return mean_loss(node.op, g_.type(x), g_.type(w), g_.type(node.outputs[0]),
                     g_.values[w].constant->as<float>(), rounded, q, observations_[x].channel_mean);
  }

  void quantize_to_int16(Node& node, const std::vector<ValueId>& operands, const Quant& of_x,
                         std::vector<float> bias) {
    const Quant q = int16_weight_quant(g_.values[operands[1]].constant->as<float>(),
                                       g_.type(operands[1]).shape, of_x, bias);
    node.inputs[1] = constant_operand(operands[1], q, DType::s16, node.origin);
    add_loss(bias, loss_of(node, operands, *g_.values[integers_.back().second].constant, q));
    set_bias(node, operands, of_x.scale[0], q, bias);
  }

  // `weight`: the parameters of the node's weight.
  void set_bias(Node& node, const std::vector<ValueId>& operands, float x_scale,
                const Quant& weight, std::span<const float> bias) {
    if (bias.empty()) return;
    const Quant steps = bias_quant(x_scale, weight);
    const Shape shape{static_cast<i64>(bias.size())};
    const std::string name = operands.size() > 2 ? g_.values[operands[2]].name
                                                 : g_.values[node.outputs[0]].name + "_bias";
    const ValueId integers = g_.add_value(name + "_q", Type{DType::s32, shape, steps},
                                          to_integers(bias, shape, steps, DType::s32));
    node.inputs.resize(2);
    node.inputs.push_back(dequantize(integers, node.origin));
  }

  Quant constant_parameters(ValueId v, const QuantSpec& spec) const {
    const std::span<const float> data = g_.values[v].constant->as<float>();
    const Observation seen = observed_constant(data);
    const Steps steps = steps_of(spec.dtype);
    const ActivationQuant q =
        choose(seen, Observer::min_max, spec.symmetric, steps.low, steps.high);
    return per_tensor(q.scale, q.zero_point, steps.low, steps.high);
  }

  // A float constant as integers behind a dequantize. Equal uses share the integers.
  ValueId constant_operand(ValueId v, const Quant& q, DType dtype, const Origin& origin) {
    const auto equal = [&](const auto& known) {
      return known.first == v && g_.type(known.second).quant == q &&
             g_.type(known.second).dtype == dtype;
    };
    if (const auto known = std::ranges::find_if(integers_, equal); known != integers_.end()) {
      std::rotate(known, known + 1, integers_.end());  // the last one is the one just used
    } else {
      const Shape shape = g_.type(v).shape;
      Constant constant = to_integers(g_.values[v].constant->as<float>(), shape, q, dtype);
      integers_.emplace_back(
          v, g_.add_value(g_.values[v].name + "_q", Type{dtype, shape, q}, std::move(constant)));
    }
    return dequantize(integers_.back().second, origin);
  }

  Graph& g_;
  const std::vector<Observation>& observations_;
  const QuantizeOptions& options_;
  Diagnostics& diagnostics_;
  const Uses uses_;
  QuantizationPlan plan_;
  std::vector<Quant> parameters_;         // by cluster
  std::vector<ValueId> quantized_value_;  // by value of the float graph
  std::vector<std::optional<Quant>>
      narrow_;  // by value: its parameters as int8, where it is int16 and an int8 operator reads it
  std::vector<std::pair<ValueId, ValueId>>
      converted_;  // value of the float graph, the same as the other of int8 and int16
  std::vector<std::pair<ValueId, ValueId>> integers_;
  std::vector<Node> nodes_;
  std::vector<QuantizedValue> report_;
};

}  // namespace

std::vector<QuantizedValue> insert_quantization(Graph& graph,
                                                const std::vector<Observation>& observations,
                                                const QuantizeOptions& options,
                                                Diagnostics& diagnostics) {
  return Inserter(graph, observations, options, diagnostics).run();
}

}  // namespace deuteron
