// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/step_ports.h"

#include <algorithm>
#include <cmath>

namespace deuteron::pt2 {

static const Argument* find_argument(const ProgramNode& node, std::string_view name) {
  const auto it = std::ranges::find(node.arguments, name, [](const auto& a) { return a.first; });
  return it == node.arguments.end() ? nullptr : &it->second;
}

static double number_of(const ProgramNode& node, std::string_view name) {
  const Argument* const a = find_argument(node, name);
  if (!a) return NAN;
  return a->kind == Argument::Kind::real ? a->real : static_cast<double>(a->integer);
}

static bool is_int8(double v) { return v >= -128 && v <= 127; }

std::optional<StepInput> step_input(const Program& program, const std::string& input) {
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const ProgramNode& node = program.nodes[i];
    if (node.target != "quantized_decomposed.dequantize_per_tensor.default") continue;
    const Argument* const read = find_argument(node, "input");
    if (!read || read->text != input) continue;
    const double scale = number_of(node, "scale"), zero = number_of(node, "zero_point");
    const double low = number_of(node, "quant_min"), high = number_of(node, "quant_max");
    const float step = static_cast<float>(scale);
    if (!(step > 0) || !std::isfinite(step) || !is_int8(zero) || !is_int8(low) || !is_int8(high))
      return std::nullopt;
    return StepInput{
        per_tensor(step, static_cast<i32>(zero), static_cast<i32>(low), static_cast<i32>(high)),
        static_cast<i32>(i)};
  }
  return std::nullopt;
}

}  // namespace deuteron::pt2
