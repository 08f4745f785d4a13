// SPDX-License-Identifier: Apache-2.0
// See extract.h. Facts: ExecuTorch 1.5, backends/nxp, neutron_node_extraction.py: inputs, then
// microcode, weights and kernels; outputs, then scratch [, profile, debug].
#include "npu/neutron/converter/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/tflite/open.h"
#include "npu/neutron/converter/converter.h"

namespace deuteron::neutron {
namespace {

constexpr size_t kSections = 3, kMostPorts = 255;

// Index of each of `used` in `all`. Empty: one is not there, or is there twice.
std::optional<std::vector<u8>> map_into(std::span<const i32> used, std::span<const i32> all) {
  std::vector<u8> map;
  for (const i32 t : used) {
    if (std::count(all.begin(), all.end(), t) != 1 || std::count(used.begin(), used.end(), t) != 1)
      return std::nullopt;
    map.push_back(static_cast<u8>(std::find(all.begin(), all.end(), t) - all.begin()));
  }
  return map;
}

// " `probabilities`": what it makes, by the name that it has in the model that was converted.
std::string made_by(const tflite::SubGraph& g, const tflite::Operator& o) {
  const auto results = tflite::ints_of(o.outputs());
  if (results.empty() || results[0] < 0) return "";
  const auto* name = g.tensors()->Get(static_cast<flatbuffers::uoffset_t>(results[0]))->name();
  return name && name->size() > 0 ? fmt::format(" `{}`", name->string_view()) : "";
}

// Every step gives false where the model is not what a converter makes, with a diagnostic.
class Extractor {
 public:
  Extractor(const tflite::Model& model, const std::string& where, Diagnostics& diagnostics)
      : m_(model), g_(*model.subgraphs()->Get(0)), where_(where), diagnostics_(diagnostics) {}

  std::optional<Extracted> extract() {
    if (!find_graph() || !map_ports() || !read_sections() || !check_scratch()) return std::nullopt;
    return std::move(e_);
  }

 private:
  bool fail(std::string what, const char* rule, std::string measured = {}, std::string limit = {},
            std::string fix = {}) {
    diagnostics_.add({Severity::error, where_, std::move(what), std::move(measured),
                      std::move(limit), rule, std::move(fix)});
    return false;
  }

  // Nothing but one NeutronGraph.
  bool find_graph() {
    size_t graphs = 0;
    std::string left;             // operators beside it
    std::set<std::string> kinds;  // of them
    const tflite::Operator* op = nullptr;
    for (const tflite::Operator* o : *g_.operators()) {
      const tflite::OperatorKind code = *tflite::code_of(m_, *o);
      const bool is_graph = code.builtin == static_cast<i32>(tflite::BuiltinOperator::CUSTOM) &&
                            code.custom == kNeutronGraph;
      if (is_graph && ++graphs == 1) op = o;
      if (is_graph || left.size() > 256) continue;
      const std::string kind =
          code.custom.empty() ? tflite::name_of_builtin(code.builtin) : code.custom;
      left += fmt::format("{}{}{}", left.empty() ? "" : ", ", kind, made_by(g_, *o));
      kinds.insert(kind);
    }
    if (left.empty() && !op) left = "no operators";
    if (!op)
      return fail("the converted model has no NeutronGraph", "neutron.extract.none", left,
                  "one NeutronGraph");
    if (!left.empty())
      return fail("operators were not converted", "neutron.extract.leftovers", left,
                  "one NeutronGraph",
                  fmt::format("keep these operators off the NPU: --layer {}=cpu",
                              fmt::join(kinds, "=cpu --layer ")));
    if (graphs != 1)
      return fail("the converted model has several NeutronGraphs", "neutron.extract.several",
                  fmt::format("{}", graphs), "1");
    operands_ = tflite::ints_of(op->inputs()), results_ = tflite::ints_of(op->outputs());
    return true;
  }

  bool map_ports() {
    const auto inputs = tflite::ints_of(g_.inputs()), outputs = tflite::ints_of(g_.outputs());
    if (operands_.size() < kSections)
      return fail("operands of the NeutronGraph", "neutron.extract.operands",
                  fmt::format("{}", operands_.size()), "at least 3");
    if (inputs.size() > kMostPorts || outputs.size() > kMostPorts)
      return fail("inputs and outputs of a delegate", "neutron.extract.count",
                  fmt::format("{}, {}", inputs.size(), outputs.size()), "255");
    if (std::any_of(operands_.begin(), operands_.end(), [](i32 t) { return t < 0; }))
      return fail("an operand of the NeutronGraph is left out", "neutron.extract.operands");
    // Results beyond the graph's outputs: scratch, or scratch, profile and debug.
    if (results_.size() == outputs.size() + 1) e_.version = 0;
    else if (results_.size() == outputs.size() + 3) e_.version = 1;
    else
      return fail("results of the NeutronGraph", "neutron.extract.results",
                  fmt::format("{}", results_.size()),
                  fmt::format("{} or {}", outputs.size() + 1, outputs.size() + 3));
    auto input_map = map_into(operands_.first(operands_.size() - kSections), inputs),
         output_map = map_into(results_.first(outputs.size()), outputs);
    if (!input_map)
      return fail("an operand of the NeutronGraph is not an input of the model, or is one twice",
                  "neutron.extract.map");
    if (!output_map)
      return fail("a result of the NeutronGraph is not an output of the model, or is one twice",
                  "neutron.extract.map");
    e_.input_map = *input_map, e_.output_map = *output_map;
    e_.model_inputs = static_cast<i64>(inputs.size());
    return true;
  }

  bool read_sections() {
    std::vector<u8>* const sections[] = {&e_.sections.microcode, &e_.sections.weights,
                                         &e_.sections.kernels};
    const char* const names[] = {"microcode", "weights", "kernels"};
    for (size_t i = 0; i < kSections; ++i) {
      const tflite::Tensor& t = tensor(operands_[operands_.size() - kSections + i]);
      if (t.type() != tflite::TensorType::UINT8)
        return fail(fmt::format("type of the {} tensor", names[i]), "neutron.extract.section",
                    tflite::EnumNameTensorType(t.type()), "UINT8");
      const auto data = tflite::buffer_of(m_, t);
      sections[i]->assign(data.begin(), data.end());
    }
    if (!check_sections(e_.sections, e_.version, static_cast<i64>(e_.input_map.size()),
                        static_cast<i64>(e_.output_map.size()), where_, diagnostics_))
      return false;
    e_.facts = *read_facts(e_.sections.microcode, e_.version, where_, diagnostics_);
    return true;
  }

  bool check_scratch() {
    i64 bytes = 1;
    for (const i32 extent : tflite::ints_of(tensor(results_[e_.output_map.size()]).shape()))
      if (extent < 0 || (bytes *= extent) > i64{1} << 40)
        return fail("shape of the scratch tensor", "neutron.extract.scratch");
    if (bytes < e_.facts.scratch_bytes)
      return fail("the scratch tensor is smaller than the microcode says",
                  "neutron.extract.scratch", fmt::format("{} bytes", bytes),
                  fmt::format("{} bytes", e_.facts.scratch_bytes));
    return true;
  }

  const tflite::Tensor& tensor(i32 index) const {
    return *g_.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
  }

  const tflite::Model& m_;
  const tflite::SubGraph& g_;
  const std::string& where_;
  Diagnostics& diagnostics_;
  std::span<const i32> operands_, results_;  // of the NeutronGraph
  Extracted e_;
};

}  // namespace

std::optional<Extracted> extract(std::span<const u8> bytes, const std::string& where,
                                 Diagnostics& diagnostics) {
  const tflite::Model* m = tflite::open_tflite(bytes, where, diagnostics);
  if (!m) return std::nullopt;
  return Extractor(*m, where, diagnostics).extract();
}

}  // namespace deuteron::neutron
