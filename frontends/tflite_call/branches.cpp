// A subgraph in the place of an operator.
#include <fmt/format.h>

#include <utility>

#include "frontends/tflite_call/call.h"

namespace deuteron::tflite {

// Each runs in one place, so that a file of a few subgraphs cannot ask for many operators, or for itself.
void Call::take_branch(i32 subgraph, i32 other) {
  const i64 subgraphs = static_cast<i64>(state_.called.size());
  for (const i32 k : {subgraph, other})
    require(k > 0 && k < subgraphs, "runs a subgraph that does not exist, or its own", std::to_string(k),
            fmt::format("1..{}", subgraphs - 1), "tflite.if.subgraph");
  if (!ok_) return;
  require(!state_.called[subgraph], fmt::format("runs subgraph {}, which another operator runs", subgraph), "", "", "tflite.if.shared");
  const SubGraph& graph = *state_.model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(subgraph));
  const auto inputs = ints_of(graph.inputs()), outputs = ints_of(graph.outputs());
  require(inputs.size() + 1 == in_.size() && outputs.size() == out_.size(), "runs a subgraph of other operands and results",
          fmt::format("{}, {}", inputs.size(), outputs.size()), fmt::format("{}, {}", in_.size() - 1, out_.size()), "tflite.if.operands");
  if (!ok_) return;
  state_.called[subgraph] = state_.called[other] = true;
  std::vector<ModelTensor> inner = state_.others[subgraph - 1];  // the subgraph itself stays as the file has it
  const auto same = [&](const ModelTensor& a, const ModelTensor& b) {
    require(a.type == b.type, fmt::format("runs a subgraph whose `{}` is of another type", a.name), to_text(a.type), to_text(b.type),
            "tflite.if.type");
    return ok_;
  };
  for (size_t k = 0; k < inputs.size(); ++k) {
    const ModelTensor* given = tensor(k + 1);
    if (!given || !same(inner[inputs[k]], *given)) return;
    inner[inputs[k]] = *given;
  }
  std::swap(inner, state_.tensors);
  for (const Operator* op : *graph.operators()) state_.visit(*op, index_);
  std::swap(inner, state_.tensors);
  for (size_t k = 0; k < outputs.size(); ++k) {
    ModelTensor& result = state_.tensors[out_[k]];
    ModelTensor& made = inner[outputs[k]];
    if (made.state == ModelTensor::State::broken) ok_ = false;  // reported
    require(made.state == ModelTensor::State::there || made.constant,
            fmt::format("runs a subgraph in which no operator makes `{}`", made.name), "", "", "tflite.output.missing");
    if (!ok_ || !same(made, result)) return;
    value_of(made);
    const std::string name = std::exchange(result, made).name;
    result.name = name, result.state = ModelTensor::State::there;
  }
}

}  // namespace deuteron::tflite
