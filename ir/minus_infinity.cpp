// SPDX-License-Identifier: Apache-2.0
#include "ir/minus_infinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "ops/families.h"

namespace deuteron {
namespace {

bool is_low(float v) { return v < kMaskedBelow; }

bool may_be_masked(const Op& op) {
  return is_movement(op) || call_of(op) || std::holds_alternative<Add>(op) ||
         std::holds_alternative<Minimum>(op) || std::holds_alternative<Maximum>(op);
}

// What asks whether a number is infinite.
bool compares(const Graph& g, const Node& node) {
  return call_of(node.op) && g.type(node.outputs[0]).dtype == DType::b8;
}

void refuse_others(const Graph& g, const Node& node, const std::string& rule,
                   Diagnostics& diagnostics) {
  for (const ValueId v : node.inputs) {
    if (!g.is_constant(v) || g.type(v).dtype != DType::f32 || compares(g, node)) continue;
    const std::span<const float> data = g.values[v].constant->as<float>();
    const bool masked = may_be_masked(node.op);
    const auto bad = std::ranges::find_if(
        data, [&](float x) { return !std::isfinite(x) && !(masked && is_low(x)); });
    if (bad != data.end())
      diagnostics.error(
          fmt::format("{}: {}", g.name, describe(g, node)),
          fmt::format("`{}` holds a value that is not finite: {}", g.values[v].name, *bad), rule,
          masked ? "write minus infinity for what is masked, else a finite number"
                 : "look for a training step that diverged");
  }
}

}  // namespace

void write_minus_infinity(Graph& g, const std::string& rule, Diagnostics& diagnostics) {
  for (Node& node : g.nodes) {
    refuse_others(g, node, rule, diagnostics);
    if (Pad* pad = std::get_if<Pad>(&node.op); pad && is_low(pad->value))
      pad->value = kMinusInfinity;
  }
  for (GraphValue& value : g.values) {
    if (!value.constant || value.type.dtype != DType::f32) continue;
    const std::span<const float> data = value.constant->as<float>();
    if (std::none_of(data.begin(), data.end(), is_low)) continue;
    std::vector<float> finite(data.begin(), data.end());
    std::replace_if(finite.begin(), finite.end(), is_low, kMinusInfinity);
    value.constant = constant_of(std::move(finite));
  }
}

}  // namespace deuteron
