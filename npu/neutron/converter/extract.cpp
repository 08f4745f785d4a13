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

}  // namespace

std::optional<Extracted> extract(std::span<const u8> bytes, const std::string& where,
                                 Diagnostics& diagnostics) {
  const auto fail = [&](std::string what, const char* rule, std::string measured = {},
                        std::string limit = {}, std::string fix = {}) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit),
                     rule, std::move(fix)});
    return std::optional<Extracted>();
  };
  const tflite::Model* m = tflite::open_tflite(bytes, where, diagnostics);
  if (!m) return std::nullopt;
  const tflite::SubGraph& g = *m->subgraphs()->Get(0);
  size_t graphs = 0;
  std::string left;             // operators beside it
  std::set<std::string> kinds;  // of them
  const tflite::Operator* op = nullptr;
  for (const tflite::Operator* o : *g.operators()) {
    const tflite::OperatorKind code = *tflite::code_of(*m, *o);
    const bool is_graph = code.builtin == static_cast<i32>(tflite::BuiltinOperator::CUSTOM) &&
                          code.custom == kNeutronGraph;
    if (is_graph && ++graphs == 1) op = o;
    if (is_graph || left.size() > 256) continue;
    const std::string kind =
        code.custom.empty() ? tflite::name_of_builtin(code.builtin) : code.custom;
    left += fmt::format("{}{}{}", left.empty() ? "" : ", ", kind, made_by(g, *o));
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
  const auto operands = tflite::ints_of(op->inputs()), results = tflite::ints_of(op->outputs()),
             inputs = tflite::ints_of(g.inputs()), outputs = tflite::ints_of(g.outputs());
  if (operands.size() < kSections)
    return fail("operands of the NeutronGraph", "neutron.extract.operands",
                fmt::format("{}", operands.size()), "at least 3");
  if (inputs.size() > kMostPorts || outputs.size() > kMostPorts)
    return fail("inputs and outputs of a delegate", "neutron.extract.count",
                fmt::format("{}, {}", inputs.size(), outputs.size()), "255");
  if (std::any_of(operands.begin(), operands.end(), [](i32 t) { return t < 0; }))
    return fail("an operand of the NeutronGraph is left out", "neutron.extract.operands");
  Extracted e;
  // Results beyond the graph's outputs: scratch, or scratch, profile and debug.
  if (results.size() == outputs.size() + 1) e.version = 0;
  else if (results.size() == outputs.size() + 3) e.version = 1;
  else
    return fail("results of the NeutronGraph", "neutron.extract.results",
                fmt::format("{}", results.size()),
                fmt::format("{} or {}", outputs.size() + 1, outputs.size() + 3));
  const auto used = operands.first(operands.size() - kSections),
             made = results.first(outputs.size());
  auto input_map = map_into(used, inputs), output_map = map_into(made, outputs);
  if (!input_map)
    return fail("an operand of the NeutronGraph is no input of the model, or is one twice",
                "neutron.extract.map");
  if (!output_map)
    return fail("a result of the NeutronGraph is no output of the model, or is one twice",
                "neutron.extract.map");
  e.input_map = *input_map, e.output_map = *output_map;
  e.model_inputs = static_cast<i64>(inputs.size());
  std::vector<u8>* const sections[] = {&e.sections.microcode, &e.sections.weights,
                                       &e.sections.kernels};
  const char* const names[] = {"microcode", "weights", "kernels"};
  for (size_t i = 0; i < kSections; ++i) {
    const tflite::Tensor& t =
        *g.tensors()->Get(static_cast<flatbuffers::uoffset_t>(operands[used.size() + i]));
    if (t.type() != tflite::TensorType::UINT8)
      return fail(fmt::format("type of the {} tensor", names[i]), "neutron.extract.section",
                  tflite::EnumNameTensorType(t.type()), "UINT8");
    const auto data = tflite::buffer_of(*m, t);
    sections[i]->assign(data.begin(), data.end());
  }
  if (!check_sections(e.sections, e.version, static_cast<i64>(e.input_map.size()),
                      static_cast<i64>(e.output_map.size()), where, diagnostics))
    return std::nullopt;
  e.facts = *read_facts(e.sections.microcode, e.version, where, diagnostics);
  const tflite::Tensor& scratch =
      *g.tensors()->Get(static_cast<flatbuffers::uoffset_t>(results[outputs.size()]));
  i64 scratch_bytes = 1;
  for (const i32 extent : tflite::ints_of(scratch.shape()))
    if (extent < 0 || (scratch_bytes *= extent) > i64{1} << 40)
      return fail("shape of the scratch tensor", "neutron.extract.scratch");
  if (scratch_bytes < e.facts.scratch_bytes)
    return fail("the scratch tensor is smaller than the microcode says", "neutron.extract.scratch",
                fmt::format("{} bytes", scratch_bytes),
                fmt::format("{} bytes", e.facts.scratch_bytes));
  return e;
}

}  // namespace deuteron::neutron
