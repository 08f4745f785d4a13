// SPDX-License-Identifier: Apache-2.0
// See read_tflite.h: tensors first, then the operators in their order.
#include "npu/neutron/converter/read_tflite.h"

#include <fmt/format.h>

#include "npu/neutron/converter/operator_reader.h"

namespace deuteron::neutron {

static constexpr const char* kWhere = "Neutron IR";

namespace {

class ModelReader {
 public:
  ModelReader(const tflite::Model& file, Diagnostics& diagnostics)
      : file_(file),
        g_(*file.subgraphs()->Get(0)),
        reader_(file, model_),
        diagnostics_(diagnostics) {}

  std::optional<Model> read() {
    for (const tflite::Tensor* t : *g_.tensors())
      if (auto fault = reader_.tensor(*t)) {
        report(fmt::format("tensor `{}`", t->name() ? t->name()->string_view() : ""), *fault);
        return std::nullopt;
      }
    for (const i32 t : tflite::ints_of(g_.inputs())) model_.inputs.push_back(t);
    for (const i32 t : tflite::ints_of(g_.outputs())) model_.outputs.push_back(t);
    check_inputs();
    i32 index = 0;
    for (const tflite::Operator* o : *g_.operators()) read(*o, index++);
    check_outputs();
    if (!good_) return std::nullopt;
    return std::move(model_);
  }

 private:
  void report(const std::string& where, const Refusal& r) {
    diagnostics_.add({Severity::error,
                      fmt::format("{}: {}", kWhere, where),
                      r.what,
                      r.measured,
                      r.limit,
                      r.rule,
                      {}});
    good_ = false;
  }

  // `port`: "input"; "neutron.ir.input" is its rule.
  void check_type(const char* port, TensorId t) {
    if (model_.type(t).dtype != DType::s8)
      report(fmt::format("{} `{}`", port, model_.tensors[t].name),
             {fmt::format("type of an {}", port), std::string(name_of(model_.type(t).dtype)), "s8",
              fmt::format("neutron.ir.{}", port)});
  }

  void check_inputs() {
    made_.resize(model_.tensors.size());
    for (size_t i = 0; i < made_.size(); ++i) made_[i] = model_.tensors[i].constant.has_value();
    for (const TensorId t : model_.inputs) {
      if (made_[t])
        report(fmt::format("input `{}`", model_.tensors[t].name),
               {"an input that is constant or given twice", {}, {}, "neutron.ir.input"});
      check_type("input", t);
      made_[t] = true;
    }
  }

  void read(const tflite::Operator& o, i32 index) {
    const tflite::OperatorKind code = *tflite::code_of(file_, o);
    model_.op_names.push_back(tflite::name_of_builtin(code.builtin));
    const auto outs = tflite::ints_of(o.outputs());
    const std::string where = fmt::format("{} `{}` (operator {})", model_.op_names.back(),
                                          outs.empty() ? "" : model_.tensors[outs[0]].name, index);
    std::optional<Refusal> fault;
    const auto out_of_order = [](std::string what) {
      return Refusal{std::move(what), {}, {}, "neutron.ir.order"};
    };
    for (const i32 t : tflite::ints_of(o.inputs()))
      if (t >= 0 && !made_[t])
        fault = out_of_order(fmt::format("reads `{}` before it is made", model_.tensors[t].name));
    for (const i32 t : outs) {
      if (made_[t])
        fault =
            out_of_order(fmt::format("makes `{}`, which is there already", model_.tensors[t].name));
      made_[t] = true;
    }
    if (!fault) fault = reader_.op(o, index, code.builtin);
    if (fault) report(where, *fault);
    made_.resize(model_.tensors.size(), true);
  }

  void check_outputs() {
    for (const TensorId t : model_.outputs) {
      if (!made_[t])
        report(fmt::format("output `{}`", model_.tensors[t].name),
               {"an output that no operator makes", {}, {}, "neutron.ir.output"});
      check_type("output", t);
    }
  }

  const tflite::Model& file_;
  const tflite::SubGraph& g_;
  Model model_;
  OperatorReader reader_;
  std::vector<bool> made_;  // constants, inputs, and results as the operators come
  Diagnostics& diagnostics_;
  bool good_ = true;
};

}  // namespace

std::optional<Model> read_tflite(std::span<const u8> bytes, Diagnostics& diagnostics) {
  const tflite::Model* file = tflite::open_tflite(bytes, kWhere, diagnostics);
  if (!file) return std::nullopt;
  return ModelReader(*file, diagnostics).read();
}

}  // namespace deuteron::neutron
