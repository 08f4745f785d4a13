// SPDX-License-Identifier: Apache-2.0
// What takes RAM and flash.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explain/doctor/doctor.h"
#include "explain/report/numbers.h"
#include "explain/report/report.h"
#include "ops/families.h"

namespace deuteron {
namespace {

constexpr double kLeastOfPlan = 0.1;  // what would fall away, of the plan
constexpr double kPeakOfPlan = 0.25;  // what one place alone has above all others, of the plan
constexpr double kLargeShare = 0.25;  // of the file, of one operator's weights
constexpr i64 kLeastFlashBytes = 4096;
constexpr i64 kLeastRamBytes = 1024;
constexpr i64 kOutOfProportion = 2;  // a payload to the constants that it computes with
constexpr size_t kLeastLayers = 3;   // fewer than that are always large

std::string bytes_text(i64 bytes, i64 of, const char* how) {
  return fmt::format("{} bytes, {:.1f} % of {} ({})", grouped(bytes),
                     of > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(of) : 0,
                     grouped(of), how);
}

void float_ports(const Patient& p, const std::vector<i64>& alive, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  i64 rest = 0;
  for (size_t n = 0; n < alive.size(); ++n)
    if (!is_at_port(c.graph, c.graph.nodes[n])) rest = std::max(rest, alive[n]);
  const i64 saved = c.plan.bytes - rest;
  if (saved < kLeastRamBytes ||
      static_cast<double>(saved) < kLeastOfPlan * static_cast<double>(c.plan.bytes))
    return;
  std::vector<FindingPlace> where;
  for (const LiveTensor& t : c.plan.peak)
    if (c.graph.type(t.value).dtype == DType::f32)
      where.push_back(
          {fmt::format("`{}`, {} bytes", c.graph.values[t.value].name, grouped(t.bytes)), "", ""});
  if (!where.empty())
    findings.push_back(finding_of(
        FindingKind::float_ports_ram, "a float input or output sets the size of the plan",
        std::move(where), static_cast<double>(saved),
        bytes_text(saved, c.plan.bytes, "the plan without the conversion, from tensors alive")));
}

// An input that is named like a state, and the one output of its shape.
void state_ports(const Patient& p, std::vector<Finding>& findings) {
  static constexpr std::string_view kNames[] = {"state", "hidden", "cache", "memory"};
  static constexpr std::string_view kShort[] = {"h",  "c",   "h0",  "c0",   "hx",
                                                "cx", "h_0", "c_0", "h_in", "c_in"};
  const Graph& g = p.compilation.reference;
  const auto shape_of = [&](const Port& port) {
    return logical_shape(port, g.type(port.value).shape);
  };
  if (!g.states.empty() || g.inputs.size() < 2 || g.outputs.size() < 2) return;
  for (size_t i = 0; i < g.user_inputs().size(); ++i) {
    const Port& input = g.inputs[i];
    const bool is_state = std::ranges::find(kShort, input.name) != std::end(kShort) ||
                          std::ranges::any_of(kNames, [&](std::string_view name) {
                            return input.name.find(name) != input.name.npos;
                          });
    const auto fits = [&](const Port& output) {
      return shape_of(output) == shape_of(input) &&
             g.type(output.value).dtype == g.type(input.value).dtype;
    };
    if (!is_state || std::ranges::count_if(g.user_outputs(), fits) != 1) continue;
    const Port& output = *std::ranges::find_if(g.user_outputs(), fits);
    const i64 bytes = p.compilation.graph.type(p.compilation.graph.inputs[i].value).bytes();
    Finding f = finding_of(FindingKind::state_ports,
                           fmt::format("input `{}` looks like output `{}` of the step before",
                                       input.name, output.name),
                           {}, static_cast<double>(bytes),
                           bytes_text(bytes, p.compilation.plan.bytes, "what goes in"));
    f.attempt = fmt::format("--state {}={}", input.name, output.name);
    f.change += ": " + f.attempt;
    findings.push_back(std::move(f));
  }
}

bool touches(const Node& node, ValueId v) {
  return std::ranges::find(node.inputs, v) != node.inputs.end() ||
         std::ranges::find(node.outputs, v) != node.outputs.end();
}

void early_peak(const Patient& p, const std::vector<i64>& alive, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  size_t peak = alive.size();
  for (size_t n = 0; n < alive.size(); ++n) {
    const auto* call = call_of(c.graph.nodes[n].op);
    if (call && !call->delegate && !is_at_port(c.graph, c.graph.nodes[n]) &&
        (peak == alive.size() || alive[n] > alive[peak]))
      peak = n;
  }
  if (peak == alive.size() || c.plan.peak.empty()) return;
  const Node& at = c.graph.nodes[peak];
  ValueId largest = -1;
  for (const auto* list : {&at.inputs, &at.outputs})
    for (const ValueId v : *list)
      if (!c.graph.is_constant(v) &&
          (largest < 0 || c.graph.type(v).bytes() > c.graph.type(largest).bytes()))
        largest = v;
  i64 others = 0;
  for (size_t n = 0; n < alive.size(); ++n)
    if (!touches(c.graph.nodes[n], largest)) others = std::max(others, alive[n]);
  const i64 above = alive[peak] - others;
  if (largest < 0 || others == 0 || above < kLeastRamBytes ||
      static_cast<double>(above) < kPeakOfPlan * static_cast<double>(c.plan.bytes))
    return;
  findings.push_back(finding_of(
      FindingKind::early_peak,
      fmt::format("one place needs far more than all others; `{}` has {} bytes",
                  c.graph.values[largest].name, grouped(c.graph.type(largest).bytes())),
      {place_of(c.graph, at.origin)}, static_cast<double>(above),
      bytes_text(above, c.plan.bytes, "above the largest sum of tensors alive elsewhere")));
  findings.back().attempt = fmt::format("--max-ram {}", std::max<i64>(others, alive[peak] / 2));
}

// Weights of a layer in the program, which may do without some of its channels.
i64 weights_left(const Slimming& slimming, const Origin& layer, i64 weights) {
  for (const SlimmedValue& s : slimming.values)
    if (s.is_layer && std::ranges::includes(s.origin, layer))
      weights = std::min(weights, s.weights);
  return weights;
}

// The constant that an operand is, in a quantized model behind its dequantize; -1: it is computed.
ValueId constant_behind(const Graph& g, const Uses& uses, ValueId v) {
  const NodeId maker = uses.producer[v];
  if (maker >= 0 && is_dequantize(g.nodes[maker].op)) v = g.nodes[maker].inputs[0];
  return g.is_constant(v) ? v : -1;
}

void weights(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  const Graph& g = c.reference;
  const auto file = static_cast<i64>(c.pte.size());
  if (std::ranges::count_if(g.nodes, [](const Node& n) { return is_layer(n.op); }) <
      static_cast<std::ptrdiff_t>(kLeastLayers))
    return;
  const Uses uses(g);
  for (const Node& node : g.nodes) {
    if (!is_layer(node.op) || node.inputs.size() < 2) continue;
    const i64 bytes = weights_left(c.slimming, node.origin, g.type(node.inputs[1]).elements());
    if (constant_behind(g, uses, node.inputs[1]) < 0 || bytes < kLeastFlashBytes ||
        static_cast<double>(bytes) < kLargeShare * static_cast<double>(file))
      continue;
    findings.push_back(
        finding_of(FindingKind::large_weights,
                   fmt::format("the weight [{}] of one layer is a large part of the file",
                               to_text(g.type(node.inputs[1]).shape)),
                   {place_of(g, node.origin)}, static_cast<double>(bytes),
                   bytes_text(bytes, file, "one byte for each weight")));
  }
}

void float_constants(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  i64 bytes = 0;
  for (const GraphValue& v : c.graph.values)
    if (v.constant && v.type.dtype == DType::f32) bytes += v.type.bytes();
  const auto file = static_cast<i64>(c.pte.size());
  if (bytes >= kLeastFlashBytes &&
      static_cast<double>(bytes) >= kLeastOfPlan * static_cast<double>(file))
    findings.push_back(finding_of(FindingKind::float_constants, "constants are kept in float", {},
                                  static_cast<double>(bytes),
                                  bytes_text(bytes, file, "of the program")));
}

// Constants of the operators that a call computes, each once, as a CPU in int8 would keep them: a
// byte for a weight, four for a bias.
i64 own_constants(const Graph& reference, const Uses& uses, const Origin& call) {
  std::set<ValueId> constants;
  for (const Node& node : reference.nodes) {
    if (!std::ranges::includes(call, node.origin)) continue;
    for (const ValueId v : node.inputs)
      if (const ValueId constant = constant_behind(reference, uses, v); constant >= 0)
        constants.insert(constant);
  }
  i64 bytes = 0;
  for (const ValueId v : constants) {
    const Type& type = reference.type(v);
    bytes += type.elements() * (type.shape.size() < 2 ? 4 : 1);
  }
  return bytes;
}

// What the NPU keeps more than once (weights of a step that is unrolled) or fills up (channels that
// are less than its lanes).
void large_payloads(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  const auto file = static_cast<i64>(c.pte.size());
  const Uses uses(c.reference);
  for (const Node& node : c.graph.nodes) {
    const auto* call = call_of(node.op);
    if (!call || !call->delegate) continue;
    const auto payload = static_cast<i64>(call->delegate->processed.size());
    const i64 own = own_constants(c.reference, uses, node.origin), more = payload - own;
    if (more < kLeastFlashBytes || payload < kOutOfProportion * own ||
        static_cast<double>(more) < kLeastOfPlan * static_cast<double>(file))
      continue;
    const FindingPlace first = place_of(c.graph, {node.origin.front()});
    findings.push_back(finding_of(
        FindingKind::large_payload,
        fmt::format("the NPU's payload has {} bytes ({} of them weights and tables) for constants "
                    "of {} bytes",
                    grouped(payload), grouped(call->delegate->weights_bytes), grouped(own)),
        {{fmt::format("{} operators from {} on", node.origin.size(), first.name), "", first.line}},
        static_cast<double>(more), bytes_text(more, file, "of the payload, beyond its constants")));
  }
}

}  // namespace

void examine_memory(const Patient& p, std::vector<Finding>& findings) {
  const std::vector<i64> alive = bytes_alive(p.compilation.graph);
  float_ports(p, alive, findings);
  state_ports(p, findings);
  early_peak(p, alive, findings);
  weights(p, findings);
  float_constants(p, findings);
  large_payloads(p, findings);
}

}  // namespace deuteron
