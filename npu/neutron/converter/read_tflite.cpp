// SPDX-License-Identifier: Apache-2.0
// See read_tflite.h: tensors first, then the operators in their order.
#include "npu/neutron/converter/read_tflite.h"

#include <fmt/format.h>

#include "npu/neutron/converter/operator_reader.h"

namespace deuteron::neutron {

std::optional<Model> read_tflite(std::span<const u8> bytes, Diagnostics& diagnostics) {
  const std::string kWhere = "Neutron IR";
  const tflite::Model* file = tflite::open_tflite(bytes, kWhere, diagnostics);
  if (!file) return std::nullopt;
  const tflite::SubGraph& g = *file->subgraphs()->Get(0);
  Model model;
  OperatorReader reader(*file, model);
  bool good = true;
  const auto report = [&](const std::string& where, const Refusal& r) {
    diagnostics.add({Severity::error,
                     fmt::format("{}: {}", kWhere, where),
                     r.what,
                     r.measured,
                     r.limit,
                     r.rule,
                     {}});
    good = false;
  };
  for (const tflite::Tensor* t : *g.tensors())
    if (auto fault = reader.tensor(*t)) {
      report(fmt::format("tensor `{}`", t->name() ? t->name()->string_view() : ""), *fault);
      return std::nullopt;
    }
  for (const i32 t : tflite::ints_of(g.inputs())) model.inputs.push_back(t);
  for (const i32 t : tflite::ints_of(g.outputs())) model.outputs.push_back(t);

  // Made: constants, inputs, and results as the operators come.
  std::vector<bool> made(model.tensors.size());
  for (size_t i = 0; i < made.size(); ++i) made[i] = model.tensors[i].constant.has_value();
  for (const TensorId t : model.inputs) {
    if (made[t])
      report(fmt::format("input `{}`", model.tensors[t].name),
             {"an input that is constant or given twice", {}, {}, "neutron.ir.input"});
    if (model.type(t).dtype != DType::s8)
      report(fmt::format("input `{}`", model.tensors[t].name),
             {"type of an input", std::string(name_of(model.type(t).dtype)), "s8",
              "neutron.ir.input"});
    made[t] = true;
  }
  i32 index = 0;
  for (const tflite::Operator* o : *g.operators()) {
    const tflite::OperatorKind code = *tflite::code_of(*file, *o);
    model.op_names.push_back(tflite::name_of_builtin(code.builtin));
    const auto outs = tflite::ints_of(o->outputs());
    const std::string where = fmt::format("{} `{}` (operator {})", model.op_names.back(),
                                          outs.empty() ? "" : model.tensors[outs[0]].name, index);
    std::optional<Refusal> fault;
    for (const i32 t : tflite::ints_of(o->inputs()))
      if (t >= 0 && !made[t])
        fault = Refusal{fmt::format("reads `{}` before it is made", model.tensors[t].name),
                        {},
                        {},
                        "neutron.ir.order"};
    for (const i32 t : outs) {
      if (made[t])
        fault = Refusal{fmt::format("makes `{}`, which is there already", model.tensors[t].name),
                        {},
                        {},
                        "neutron.ir.order"};
      made[t] = true;
    }
    if (!fault) fault = reader.op(*o, index, code.builtin);
    if (fault) report(where, *fault);
    made.resize(model.tensors.size(), true);
    ++index;
  }
  for (const TensorId t : model.outputs) {
    if (!made[t])
      report(fmt::format("output `{}`", model.tensors[t].name),
             {"an output that no operator makes", {}, {}, "neutron.ir.output"});
    if (model.type(t).dtype != DType::s8)
      report(fmt::format("output `{}`", model.tensors[t].name),
             {"type of an output", std::string(name_of(model.type(t).dtype)), "s8",
              "neutron.ir.output"});
  }
  if (!good) return std::nullopt;
  return model;
}

}  // namespace deuteron::neutron
