// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/dynamic_quantization.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace deuteron::pt2 {
namespace {

constexpr std::string_view kSpace = "quantized_decomposed.";

bool is_operator(const ProgramNode& node, std::string_view name) {
  return node.target.starts_with(kSpace) &&
         std::string_view(node.target).substr(kSpace.size()).starts_with(name);
}

std::string tensor_of(const ProgramNode& node, std::string_view argument) {
  for (const auto& [name, a] : node.arguments)
    if (name == argument && a.kind == Argument::Kind::tensor) return a.text;
  return {};
}
std::string scale_of(const ProgramNode& node) {
  const std::string one = tensor_of(node, "scale");
  return one.empty() ? tensor_of(node, "scales") : one;
}

// All nodes that read a tensor; null: an output of the model.
std::multimap<std::string, const ProgramNode*> readers_of(const Program& program) {
  std::multimap<std::string, const ProgramNode*> readers;
  for (const ProgramNode& node : program.nodes)
    for (const auto& [name, a] : node.arguments) {
      if (a.kind == Argument::Kind::tensor) readers.emplace(a.text, &node);
      for (const std::string& each : a.names) readers.emplace(each, &node);
    }
  for (const ProgramOutput& out : program.outputs) readers.emplace(out.name, nullptr);
  return readers;
}

void make_alias(ProgramNode& node, Program& program) {
  Argument self;
  self.kind = Argument::Kind::tensor, self.text = tensor_of(node, "input");
  const auto meta = program.tensors.find(self.text);
  const TensorMeta copy = meta == program.tensors.end() ? TensorMeta{} : meta->second;
  node.target = "aten.alias.default";
  node.arguments = {{"self", std::move(self)}};
  node.outputs.resize(1);
  program.tensors[node.outputs[0]] = copy;
}

}  // namespace

void take_out_dynamic_quantization(Program& program, const std::string& name,
                                   Diagnostics& diagnostics) {
  const auto readers = readers_of(program);
  std::map<std::string, size_t> chosen;  // scale: the node that finds it
  std::vector<size_t> aliases;
  const auto all_readers = [&](const std::string& tensor, auto&& fits) {
    const auto [first, last] = readers.equal_range(tensor);
    return std::all_of(first, last, [&](const auto& r) { return r.second && fits(*r.second); });
  };
  for (size_t k = 0; k < program.nodes.size(); ++k) {
    const ProgramNode& node = program.nodes[k];
    if (!is_operator(node, "choose_qparams") || node.outputs.size() != 2) continue;
    const auto is_quantization = [&](const ProgramNode& r) {
      if (scale_of(r) != node.outputs[0]) return false;
      if (is_operator(r, "dequantize_per_t")) return true;
      const auto dequantizes = [&](const ProgramNode& d) {
        return is_operator(d, "dequantize_per_t") && scale_of(d) == node.outputs[0];
      };
      return is_operator(r, "quantize_per_t") && r.outputs.size() == 1 &&
             all_readers(r.outputs[0], dequantizes);
    };
    if (all_readers(node.outputs[0], is_quantization) &&
        all_readers(node.outputs[1], is_quantization))
      chosen[node.outputs[0]] = k;
  }
  if (chosen.empty()) return;
  for (const auto& [scale, k] : chosen) aliases.push_back(k);
  for (size_t k = 0; k < program.nodes.size(); ++k)
    if (program.nodes[k].target.starts_with(kSpace) && chosen.contains(scale_of(program.nodes[k])))
      aliases.push_back(k);
  std::ranges::sort(aliases);  // what a node reads has its meaning before
  for (const size_t k : aliases) make_alias(program.nodes[k], program);
  constexpr const char* kSaid =
      "quantizes values by ranges that it finds as it runs: they are taken as they are, and "
      "quantized as those of a float model";
  diagnostics.add({Severity::note, name, kSaid, "", "", "pt2.quantize.dynamic", {}});
}

}  // namespace deuteron::pt2
