// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/front_ends.h"

#include <algorithm>
#include <cmath>

#include "compile/quantize/channel_lines.h"
#include "compile/quantize/open_ended.h"
#include "compile/quantize/recurrent.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "ops/kernel_call/number_calls.h"

namespace deuteron {

namespace {

// Tells small numbers apart as well as large ones.
bool is_logarithm(const Graph& g, const Node& node) {
  if (!is_elementwise(node.op)) return false;
  const float small = value_at(g, node, 0x1p-10f) - value_at(g, node, 0x1p-14f);
  const float large = value_at(g, node, 1) - value_at(g, node, 0x1p-4f);
  return large > 0 && std::abs(small - large) < large / 2;
}

std::optional<NumberUse> use_of_numbers(const Node& node) {
  const auto call = number_call(call_of(node.op));
  return call ? std::optional(call->use) : std::nullopt;
}

// Makes integers of numbers, or of true and false.
bool makes_integers(const Graph& g, const Node& node) {
  return use_of_numbers(node) == NumberUse::converted &&
         g.type(node.outputs[0]).dtype != DType::f32;
}

// Makes them of float.
bool rounds_to_integers(const Graph& g, const Node& node) {
  return makes_integers(g, node) && g.type(node.inputs[0]).dtype == DType::f32;
}

// By the element, or only at another place.
bool keeps_elements(const Node& node) {
  return is_of_elements(node) || only_moves(node) || use_of_numbers(node) == NumberUse::compared;
}

// By value: something that sums products with weights reads it, or what is made of it.
std::vector<bool> read_by_layers(const Graph& g) {
  std::vector<bool> is_read(g.values.size());
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    const bool reads = is_layer(node.op) || recurrent_form(node.op) ||
                       std::ranges::any_of(node.outputs, [&](ValueId v) { return is_read[v]; });
    for (const ValueId v : node.inputs) is_read[v] = is_read[v] || reads;
  }
  return is_read;
}

// What has no kernel in float: a layer with a state, and of layers the one without an int16 form.
bool needs_steps(const Op& op) {
  return state_results(op) > 0 || (is_layer(op) && int16_quant_specs(op).empty());
}

}  // namespace

std::vector<bool> front_ends(const Graph& g) {
  const std::vector<bool> is_read = read_by_layers(g);
  std::vector<bool> leads(g.nodes.size()), is_wanted(g.values.size());
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    leads[n] = std::ranges::any_of(node.outputs, [&](ValueId v) { return is_wanted[v]; }) ||
               (is_logarithm(g, node) && is_read[node.outputs[0]]) || rounds_to_integers(g, node);
    if (leads[n] && needs_steps(node.op)) return std::vector<bool>(g.nodes.size());
    for (const ValueId v : node.inputs) is_wanted[v] = is_wanted[v] || leads[n];
  }
  return leads;
}

std::vector<bool> becomes_integers(const Graph& g) {
  std::vector<bool> leads(g.nodes.size()), is_wanted(g.values.size());
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    leads[n] = keeps_elements(node) && is_wanted[node.outputs[0]];
    if (leads[n] || makes_integers(g, node))
      for (const ValueId v : node.inputs) is_wanted[v] = true;
  }
  return leads;
}

constexpr double kLost = 10, kWorthIt = 6;  // dB

bool float_brings_back(double before, double after) {
  return before < kLost && after >= before + kWorthIt;
}

std::optional<FrontEndsInFloat> keep_front_ends(QuantizationCandidate& plain,
                                                Yardstick& yardstick) {
  if (!plain.options.may_use_float ||
      std::ranges::none_of(front_ends(*plain.graph), [](bool leads) { return leads; }))
    return std::nullopt;
  QuantizationCandidate in_steps = plain;
  measure(in_steps, yardstick);
  const double before = in_steps.score.sqnr_db;
  if (before >= kLost) return std::nullopt;
  QuantizationCandidate in_float = plain;
  in_float.options.front_ends_in_float = true;
  measure(in_float, yardstick);
  if (!float_brings_back(before, in_float.score.sqnr_db)) return std::nullopt;
  plain = std::move(in_float);
  return FrontEndsInFloat{before, plain.score.sqnr_db};
}

}  // namespace deuteron
