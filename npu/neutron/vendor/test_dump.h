// SPDX-License-Identifier: Apache-2.0
// Writes the text of the vendor's converter for small models, in the shape that console_dump.h
// reads: for tests.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "npu/neutron/vendor/model_face.h"

namespace deuteron::neutron {

struct TestNode {
  std::string type;
  std::vector<std::string> inputs, outputs;
};
struct TestRow {
  std::vector<std::string> kernels;
  std::vector<TestNode> nodes;
  std::vector<std::string> inputs, outputs;
};

class TestDump {
 public:
  std::vector<std::string> constants;  // tensors
  std::vector<TestNode> model;
  std::vector<TestRow> rows;
  // "Conv2DPointwise 0x40", or "Conv2DPointwise 0x40 0x1000" with a place in SRAM, where "MemCpy
  // 0x40 0x1000" copies to; empty: no microcode is printed.
  std::vector<std::string> calls;
  i64 kernel_calls = -1;  // -1: as many as calls

  // A row of one node, whose ports are the node's.
  void row(const std::string& kernel, const TestNode& node) {
    rows.push_back({{kernel}, {node}, node.inputs, node.outputs});
  }

  ModelFace face(const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs) const {
    ModelFace face;
    for (const std::string& name : inputs) face.inputs.push_back({name, "int8", {1}, {}, {}});
    for (const std::string& name : outputs) face.outputs.push_back({name, "int8", {1}, {}, {}});
    for (const TestNode& node : model) {
      ModelOperator op{node.type, node.inputs, node.outputs, {}};
      for (const std::string& in : node.inputs) op.is_constant.push_back(is_constant(in));
      face.operators.push_back(std::move(op));
    }
    return face;
  }

  std::string text() const {
    std::string t =
        "Converting model with the following options:\n  Target = imxrt700\nGraphs:\n  Name: "
        "main\n    Tensors:\n";
    for (const std::string& name : constants)
      t += fmt::format("      Name: {}\n      Kind: Constant\n\n", name);
    for (size_t k = 0; k < model.size(); ++k) t += node_text(model[k], k);
    t += "===== Optimize Graph =====\n===== Extract Graphs =====\r\nNeutronGraph "
         "\"subgraph_099\":\r\n";
    for (size_t k = 0; k < rows.size(); ++k) {
      t += fmt::format("  NeutronOperator \"subgraph_{:03}\":\r\n      Operators:\r\n", k);
      for (const TestNode& node : rows[k].nodes) t += fmt::format("          {}\r\n", node.type);
      t += "      Kernels:\r\n";
      for (const std::string& kernel : rows[k].kernels)
        t += fmt::format("          {}\r\n", kernel);
    }
    t += "=====\nGenerate code for NeutronGraph \"subgraph_099\"\n";
    if (!calls.empty())
      t += fmt::format("  numKernelCalls   {:#x}\n",
                       kernel_calls < 0 ? static_cast<i64>(calls.size()) : kernel_calls);
    for (const std::string& call : calls) {
      const size_t space = call.find(' '), second = call.find(' ', space + 1);
      const std::string kernel = call.substr(0, space),
                        constants =
                            space == call.npos ? "0x0" : call.substr(space + 1, second - space - 1);
      t += fmt::format("    CALLARGS {} @() {{ {}\n      {}: (Consts + {})", kernel,
                       kernel == "MemCpy" ? "" : "inPtr: (Scratch + 0x0),",
                       kernel == "MemCpy" ? "srcPtr" : "filterPtr", constants);
      t += space == call.npos || second == call.npos
               ? " }\n"
               : fmt::format(", otherPtr: (Weights + {}) }}\n", call.substr(second + 1));
    }
    t += "Graphs:\n";
    for (size_t k = 0; k < rows.size(); ++k) {
      t += fmt::format("  Name: subgraph_{:03}\n{}    Tensors:\n", k,
                       ports(rows[k].inputs, rows[k].outputs));
      for (size_t n = 0; n < rows[k].nodes.size(); ++n) t += node_text(rows[k].nodes[n], n);
    }
    return t + "Statistics for NeutronGraph \"subgraph_099\":\n";
  }

 private:
  bool is_constant(const std::string& name) const {
    for (const std::string& c : constants)
      if (c == name) return true;
    return false;
  }
  static std::string ports(const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
    std::string t = "      Inputs:\n";
    for (size_t k = 0; k < inputs.size(); ++k) t += fmt::format("        [{}]: {}\n", k, inputs[k]);
    t += "      Outputs:\n";
    for (size_t k = 0; k < outputs.size(); ++k)
      t += fmt::format("        [{}]: {}\n", k, outputs[k]);
    return t;
  }
  static std::string node_text(const TestNode& node, size_t location) {
    return fmt::format("      Type: {}\n{}      Location: {}\n", node.type,
                       ports(node.inputs, node.outputs), location);
  }
};

}  // namespace deuteron::neutron
