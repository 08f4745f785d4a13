// SPDX-License-Identifier: Apache-2.0
// The state of one import of an ONNX model. Its operators are written as those of torch, whose
// import makes the graph: shapes, padding, layouts and compositions are known in one place, and a
// model gives one graph whether it comes as .pt2 or as .onnx.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "frontends/onnx/file/model.h"
#include "frontends/pt2/call/import_state.h"
#include "ir/graph.h"

namespace deuteron::onnx {

// What stands in the place of steps that a model makes by a range that it finds as it runs: real
// numbers, and a scale of 1. Right only where both meet in a product; everything else that reads
// them is refused.
enum class StandIn : u8 { none, steps, scale };

// A node that reads steps, and which of its operands is their scale; the zero point follows.
struct StepsReader {
  const ModelNode* node = nullptr;
  size_t scale = 0;
};

struct ImportState {
  ImportState(const Model& m, deuteron::Graph& g, Diagnostics& d)
      : model(m), graph(g), diagnostics(d), torch(archive, program, g, said) {
    archive.name = g.name;
    torch.declares_results = false;
  }

  const Model& model;
  deuteron::Graph& graph;
  Diagnostics& diagnostics;
  std::set<std::string, std::less<>>
      broken;  // tensors of operators that were refused: nothing more is said of what reads them
  std::map<std::string, Refusal>
      unavailable;  // tensors of the file that nothing can be done with, and why
  std::map<std::string, StandIn> stand_ins;
  std::map<std::string, StepsReader>
      input_steps;  // inputs that are quantized in front of their first reader
  std::map<std::string, Element>
      four_bits;                      // tensors of the file of INT4 and UINT4, which are int8 here
  bool has_steps_by_channel = false;  // of computed values: they are steps of 1 here
  std::set<std::string> noted;        // what has been said once
  int made_names = 0;

  pt2::Archive archive;
  pt2::Program program;  // of torch's operators: what the import has told of its results so far
  Diagnostics said;      // by them, until it is passed on
  pt2::ImportState torch;

  bool knows(const std::string& tensor) const { return torch.meanings.contains(tensor); }
  ValueId value_of(const std::string& tensor) const {
    const auto it = torch.meanings.find(tensor);
    return it == torch.meanings.end() ? -1 : it->second.value;
  }
  void define(const std::string& tensor, ValueId value);
  void note_width(const std::string& tensor, Element type) {
    if (type == Element::s4 || type == Element::u4) four_bits[tensor] = type;
  }
  void declare(const std::string& tensor,
               const Type& type);  // what torch's operators ask the model for
  // Where the messages of torch's operators go; their rules begin with `onnx` then, and what they
  // advise to do in torch is left out.
  void pass_on();
  // A note that is given once.
  void note(const std::string& what, const std::string& rule, const std::string& fix = {});
};

// The elements of a tensor in a type that the graph has: float16, bfloat16 and double become
// float32, unsigned and 16-bit integers int64. uint8 stays: it may be the steps of a quantized
// tensor. Nothing: why not.
struct Elements {
  Type type;
  Constant data;
};
std::optional<Elements> elements_of(const ModelTensor& tensor, Refusal& why);
std::optional<DType> dtype_of(Element type);  // of computed values; nothing: not supported

}  // namespace deuteron::onnx
