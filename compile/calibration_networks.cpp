// SPDX-License-Identifier: Apache-2.0
#include "compile/calibration_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "compile/compile.h"
#include "ir/text.h"
#include "targets/builtin.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Images are stored with their channels last.
std::string order_of(const std::string& shape) {
  return std::ranges::count(shape, ',') == 3 ? " order=0,3,1,2" : "";
}

std::string with(std::string text, char sign, const std::string& name) {
  for (size_t at = 0; (at = text.find(sign)) != text.npos;) text.replace(at, 1, name);
  return text;
}

// Its layers side by side, each with an input and an output of its own.
std::optional<Graph> graph_of(const CalibrationNetwork& network, Diagnostics& diagnostics) {
  std::string inputs, calls, outputs;
  for (size_t k = 0; k < network.layers.size(); k++) {
    const std::string& layer = network.layers[k];
    const std::string shapes = layer.substr(0, layer.find(' '));
    const std::string shape = shapes.substr(0, shapes.find(';'));
    std::string call = layer.substr(shapes.size() + 1);
    for (const auto& [sign, letter] : {std::pair('@', 'x'), std::pair('%', 'z')}) {
      if (call.find(sign) == call.npos) continue;
      const std::string name = fmt::format("{}{}", letter, k);
      const std::string own = sign == '%' ? shapes.substr(shapes.find(';') + 1) : shape;
      inputs += fmt::format("input {} : f32[{}]{}\n", name, own, order_of(own));
      call = with(std::move(call), sign, name);
    }
    std::string first, last;
    for (size_t step = 0, end = 0; end != call.npos; step++) {
      end = call.find(" | ");
      const std::string one = with(with(call.substr(0, end), '$', last), '&', first);
      call = end == call.npos ? one : call.substr(end + 3);
      if (end == call.npos) break;
      last = step == 0 ? fmt::format("a{}", k) : fmt::format("a{}_{}", k, step);
      if (first.empty()) first = last;
      calls += fmt::format("{} = {}\n", last, one);
    }
    const size_t types = call.rfind(" : ");  // of a kernel's call
    const bool has_cell =
        call.starts_with("lstm") || (types != call.npos && call.find(", ", types) != call.npos);
    calls += fmt::format("y{}{} = {}\n", k, has_cell ? fmt::format(", c{}", k) : "", call);
    outputs += fmt::format("output y{}{}\n", k, call.starts_with("permute") ? "" : order_of(shape));
  }
  return parse(inputs + calls + outputs, "targets/calibration.txt", diagnostics);
}

}  // namespace

std::vector<CalibrationNetwork> calibration_networks() {
  std::vector<CalibrationNetwork> networks;
  bool is_inside = false;
  std::string_view text = builtin_calibration();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with('#')) continue;
    if (!line.empty() && !is_inside) networks.emplace_back();
    is_inside = !line.empty();
    if (line == "floats") networks.back().has_floats = true;
    else if (line == "float") networks.back().has_floats = networks.back().is_float = true;
    else if (line == "int16") networks.back().precision = NetworkPrecision::int16;
    else if (line == "int4") networks.back().precision = NetworkPrecision::int4;
    else if (line == "plain") networks.back().is_plain = true;
    else if (line == "scratch") networks.back().has_scratch = true;
    else if (line == "least") networks.back().has_least_scratch = true;
    else if (line == "wide") networks.back().is_wide = true;
    else if (is_inside) networks.back().layers.emplace_back(line);
  }
  return networks;
}

bool is_for(const CalibrationNetwork& network, const Target& target) {
  const bool has_int4 = target.isa != Isa::scalar && !target.options.is_for_stock();
  return has_int4 || network.precision != NetworkPrecision::int4;
}

std::optional<Compilation> compile_network(const CalibrationNetwork& network, const Target& target,
                                           Diagnostics& diagnostics) {
  std::optional<Graph> graph = graph_of(network, diagnostics);
  if (!graph) return std::nullopt;
  std::mt19937 bits(7);
  Samples samples(2);
  for (auto& sample : samples)
    for (const Port& port : graph->inputs)
      for (float& v : sample.emplace_back(graph->type(port.value).elements()))
        v = made_up_number(bits) * (network.is_wide ? 16.0f : 1.0f);
  CompileOptions options;
  options.precision = network.precision;
  options.packed_weights = !network.is_plain && !target.options.is_for_stock();
  options.packed_growth_percent = 1000;  // the calls are what counts
  for (const Node& node : graph->nodes)
    if (network.is_float)
      options.layers.push_back({graph->values[node.outputs[0]].name, NamedPrecision::in_float});
  if (network.has_scratch) options.skip_passes = {"fit-scratch"};
  if (network.has_least_scratch) options.scratch_growth_percent = 0;
  options.quantize.observer = Observer::min_max;
  if (!network.has_floats) options.ports = PortTypes::steps;
  return compile(std::move(*graph), target, samples, options, diagnostics);
}

}  // namespace deuteron
