// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/small_inputs.h"

#include <algorithm>
#include <set>

#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

// Its results are elements of the operand, whatever these mean. A resize rounds what it makes of
// whole numbers.
bool moves(const ModelNode& node, size_t operand) {
  const ImportRow* row = find_import(node.op, node.domain);
  return row && row->moves_elements && node.op != "Resize" && node.op != "Upsample" &&
         (operand == 0 || node.op == "Concat");
}

class Readers {
 public:
  Readers(const Model& model, const std::string& input) : model_(model), names_{input} {}

  void visit_all(const std::vector<ModelNode>& nodes) {
    for (const ModelNode& node : nodes) {
      for (const Attribute& a : node.attributes)
        if (a.graph) visit_all(a.graph->nodes);
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (names_.contains(node.inputs[k])) visit(node, k);
    }
  }

  SmallInput kind() const {
    const bool is_number = casts_ || positions_;
    if (others_ || (is_number && steps_.node)) return SmallInput::unknown;
    return steps_.node  ? SmallInput::steps
           : positions_ ? SmallInput::positions
                        : SmallInput::numbers;
  }
  const StepsReader& steps() const { return steps_; }

 private:
  void visit(const ModelNode& node, size_t k) {
    const auto calls = [&](const Function& f) {
      return f.name == node.op && f.domain == node.domain;
    };
    if (std::ranges::any_of(model_.functions, calls)) others_ = true;
    else if (node.op == "DequantizeLinear" ||
             (node.op.starts_with("QLinear") && node.op != "QLinearConcat"))
      read_steps(node, k);
    else if (!node.domain.empty()) others_ = true;
    else if (node.op == "Cast") cast(node);
    else if (k == 1 && (node.op == "Gather" || node.op == "GatherElements")) positions_ = true;
    else if (moves(node, k)) names_.insert(node.outputs.begin(), node.outputs.end());
    else if (node.op != "Shape" && node.op != "Size") others_ = true;
  }
  // Scale and zero point stand behind each operand of steps.
  void read_steps(const ModelNode& node, size_t k) {
    if (k != 0 && k != 3) others_ = true;
    else if (!steps_.node) steps_ = {&node, k + 1};
  }
  void cast(const ModelNode& node) {
    const auto to = std::ranges::find(node.attributes, "to", &Attribute::name);
    const Element element =
        to == node.attributes.end() ? Element::undefined : static_cast<Element>(to->integer);
    const DType dtype = dtype_of(element).value_or(DType::u8);
    if (dtype == DType::s32 || dtype == DType::s64) positions_ = true;
    else if (dtype == DType::f32 || dtype == DType::b8) casts_ = true;
    else others_ = true;
  }

  const Model& model_;
  std::set<std::string, std::less<>> names_;
  StepsReader steps_;
  bool casts_ = false, positions_ = false, others_ = false;
};

}  // namespace

SmallInput kind_of_input(const Model& model, const std::string& input, StepsReader* scale) {
  Readers readers(model, input);
  readers.visit_all(model.graph.nodes);
  *scale = readers.steps();
  return readers.kind();
}

}  // namespace deuteron::onnx
