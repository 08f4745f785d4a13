// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/files/mapped_file.h"
#include "base/tensor/elements.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/operators/import_table.h"
#include "ir/minus_infinity.h"
#include "ir/states.h"
#include "ir/unusable_scales.h"

namespace deuteron {
namespace tflite {
namespace {

constexpr size_t kNamedUses = 4;  // of a builtin that is not known; the rest are counted

class Walk {
 public:
  // `tensors` by subgraph.
  Walk(const Model& model, std::vector<std::vector<ModelTensor>> tensors, const Entry& entry,
       Graph& graph, Diagnostics& diagnostics)
      : model_(model),
        sub_(*model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(entry.subgraph))),
        entry_(entry),
        diagnostics_(diagnostics),
        state_{model,          std::exchange(tensors[entry.subgraph], {}),
               entry.subgraph, std::move(tensors),
               graph,          diagnostics} {}

  bool run() {
    state_.visit = [this](const Operator& op, i32 index) {
      ++depth_;
      visit(op, index);
      --depth_;
    };
    add_sources();
    declare_inputs();
    i32 index = 0;
    for (const Operator* op : *sub_.operators()) {
      if (entry_.operators[index]) visit(*op, index);
      else graph().folded.push_back({{index}, "not in the part"});
      ++index;
    }
    report_unknown();
    if (diagnostics_.has_errors()) return false;
    add_outputs();
    report_not_called();
    add_states();
    return !diagnostics_.has_errors();
  }

 private:
  Graph& graph() { return state_.graph; }
  std::string name_of(const Operator& op) const {
    const OperatorKind kind = *code_of(model_, op);
    return kind.custom.empty() ? name_of_builtin(kind.builtin) : kind.custom;
  }
  void error(std::string what, const char* rule, std::string fix = {}) {
    diagnostics_.error(graph().name, std::move(what), rule, std::move(fix));
  }

  void add_sources() {
    for (const Operator* op : *sub_.operators()) {
      const auto out = ints_of(op->outputs());
      graph().sources.push_back(
          {out.empty() ? "" : state_.tensors[out[0]].name, name_of(*op), "", ""});
    }
  }

  void declare_inputs() {
    for (const i32 id : entry_.inputs) {
      ModelTensor& t = state_.tensors[id];
      if (t.state != ModelTensor::State::unknown || t.constant) {
        error(fmt::format("input `{}` is a constant, or given twice", t.name),
              "tflite.input.constant");
        continue;
      }
      if (t.unsupported)
        diagnostics_.add({Severity::error,
                          fmt::format("{}: input `{}`", graph().name, t.name),
                          t.unsupported->what,
                          t.unsupported->measured,
                          t.unsupported->limit,
                          t.unsupported->rule,
                          {}});
      const DType d = t.type.dtype;
      const bool is_plain = d == DType::f32 || d == DType::s32 || d == DType::s64 || d == DType::b8;
      const bool has_steps = (d == DType::s8 || d == DType::s16) && !t.type.quant.empty() &&
                             !t.type.quant.per_channel();
      if (!t.unsupported && ((!is_plain && !has_steps) || t.is_complex))
        diagnostics_.add({Severity::error,
                          fmt::format("{}: input `{}`", graph().name, t.name),
                          "has elements of a type that is not supported",
                          std::string(name_of_type(t)),
                          "FLOAT32, INT8, UINT8 and INT16 with a scale, INT32, INT64, BOOL",
                          "tflite.input.type",
                          {}});
      t.state = ModelTensor::State::there;
      t.value = graph().add_value(t.name, {has_steps ? DType::f32 : d, t.type.shape, {}});
      graph().inputs.push_back({t.value, t.name, all_axes(t.type)});
      if (has_steps && !t.shifted) graph().inputs.back().steps = t.type;
      if (has_steps) graph().numerics = Numerics::tflite;
    }
  }

  static std::string name_of_type(const ModelTensor& t) {
    if (t.is_complex) return "COMPLEX64";
    return std::string(t.shifted ? "u8" : deuteron::name_of(t.type.dtype)) +
           (t.type.quant.empty() ? " without a scale" : "");
  }
  static Axes all_axes(const Type& type) {
    Axes order(type.shape.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  void visit(const Operator& op, i32 index) {
    const OperatorKind kind = *code_of(model_, op);
    const ImportRow* row = kind.custom.empty() ? find_import(kind.builtin) : nullptr;
    Call call(state_, op, index, name_of(op), row ? row->int16 : Int16::refused);
    if (!row) {
      Unknown& unknown = unknown_[name_of(op)];
      unknown.kind = kind;
      if (unknown.uses.empty() || unknown.uses.back() != index)
        unknown.uses.push_back(index);  // a turn of a loop is no other use
    }
    for (const i32 id : ints_of(op.outputs())) {
      const ModelTensor& t = state_.tensors[id];
      if (t.state != ModelTensor::State::unknown || t.constant)
        call.refuse({fmt::format("makes `{}`, which is there already", t.name), "", "",
                     "tflite.graph.duplicate"});
    }
    const size_t nodes = graph().nodes.size();
    if (row && call.ok()) row->import(call);
    for (const i32 id : ints_of(op.outputs())) {
      ModelTensor& t = state_.tensors[id];
      if (row && call.ok() && t.state == ModelTensor::State::unknown)
        call.refuse({"has a result that is not expected", "", "", "tflite.operator.results"});
      t.maker = index;
      if (!call.ok() || !row) t.state = ModelTensor::State::broken;
      if (!t.type.quant.empty()) graph().numerics = Numerics::tflite;
    }
    if (row && call.ok() && depth_ == 0 && graph().nodes.size() == nodes)
      graph().folded.push_back({{index}, is_computed(op) ? "folded into a constant" : "identity"});
  }

  // All its results are constants now.
  bool is_computed(const Operator& op) const {
    const auto out = ints_of(op.outputs());
    return !out.empty() && std::all_of(out.begin(), out.end(), [&](i32 id) {
      return state_.tensors[id].constant.has_value();
    });
  }

  // One message for each builtin, not one for each use.
  void report_unknown() {
    for (const auto& [name, unknown] : unknown_) {
      const std::vector<i32>& uses = unknown.uses;
      std::string where;
      for (size_t k = 0; k < std::min(uses.size(), kNamedUses); ++k)
        where += fmt::format("{}`{}` (operator {})", k == 0 ? "" : ", ",
                             graph().sources[uses[k]].name, uses[k]);
      if (uses.size() > kNamedUses) where += fmt::format(" and {} more", uses.size() - kNamedUses);
      const bool custom = !unknown.kind.custom.empty();
      error(fmt::format("{} {} is not supported: {}", custom ? "custom operator" : "builtin", name,
                        where),
            custom ? "tflite.operator.custom" : "tflite.operator.unknown",
            "docs/formats.md lists the supported builtins");
    }
  }

  void add_outputs() {
    for (const i32 id : entry_.outputs) {
      ModelTensor& t = state_.tensors[id];
      if (t.state != ModelTensor::State::there) {
        error(fmt::format("output `{}` is made by no operator", t.name), "tflite.output.missing");
        continue;
      }
      if (t.is_complex) {
        error(fmt::format("output `{}` is of complex numbers", t.name), "tflite.tensor.complex");
        continue;
      }
      if (t.value < 0) {
        error(fmt::format("output `{}` is a variable, not what it holds", t.name),
              "tflite.output.variable", "read it with READ_VARIABLE");
        continue;
      }
      ValueId v = t.value;
      const bool has_steps = !t.type.quant.empty() && graph().type(v).dtype != DType::f32;
      if (has_steps) {
        // One that others read stays theirs. An input that is an output too has no maker, but its
        // first reader's quantize.
        const Origin origin =
            t.maker >= 0 ? Origin{t.maker} : graph().nodes[Uses(graph()).producer[v]].origin;
        v = graph().add_node(Dequantize{}, {t.value}, {{DType::f32, t.type.shape, {}}}, t.name,
                             origin);
      }
      graph().outputs.push_back({v, t.name, all_axes(t.type)});
      if (has_steps && !t.shifted) graph().outputs.back().steps = t.type;
    }
    if (entry_.outputs.empty()) error("has no outputs", "tflite.output.missing");
  }

  void report_not_called() {
    if (entry_.is_chosen) return;
    const std::vector<bool> named = named_subgraphs(model_, state_.main);
    for (size_t k = 1; k < named.size(); ++k)
      if (!named[k])
        error(
            fmt::format("subgraph {} is run by no operator: the model has several entry points", k),
            "tflite.graph.subgraphs",
            fmt::format("choose one: --signature NAME ({})", names_of_entries(model_)));
  }

  // Behind the user's own inputs and outputs.
  void add_states() {
    for (const Variable& v : state_.variables) {
      if (v.before < 0) continue;
      const Type& type = graph().type(v.before);
      graph().inputs.push_back({v.before, v.name, all_axes(type)});
      graph().outputs.push_back({v.now, v.name, all_axes(type)});
      const size_t elements = static_cast<size_t>(type.elements());
      const Constant zeros = constant_of(elements_of(std::vector<float>(elements), type));
      graph().states.push_back({type,
                                !v.initial ? zeros
                                : type.dtype != v.type->dtype
                                    ? constant_of(numbers_of(v.initial->bytes.data(), *v.type))
                                    : *v.initial,
                                v.writer});
    }
    drop_idle_states(graph());
  }

  const Model& model_;
  const SubGraph& sub_;
  const Entry& entry_;
  Diagnostics& diagnostics_;
  ImportState state_;
  struct Unknown {
    OperatorKind kind;
    std::vector<i32> uses;
  };
  std::map<std::string, Unknown> unknown_;  // by name
  i32 depth_ = 0;                           // of operators that run a subgraph
};

}  // namespace
}  // namespace tflite

std::optional<Graph> import_tflite(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const std::string& name,
                                   Diagnostics& diagnostics, const ModelPart& part) {
  const std::span<const u8> data{reinterpret_cast<const u8*>(bytes.data()), bytes.size()};
  const tflite::Model* model = tflite::open_tflite(data, name, diagnostics, tflite::kMostSubgraphs);
  const auto entry = model ? tflite::find_entry(*model, part, name, diagnostics) : std::nullopt;
  if (!entry) return std::nullopt;
  std::vector<std::vector<tflite::ModelTensor>> tensors;
  for (i32 k = 0; k < static_cast<i32>(model->subgraphs()->size()); ++k) {
    auto own = tflite::read_tensors(*model, k, owner, name, diagnostics);
    if (!own) return std::nullopt;
    tensors.push_back(std::move(*own));
  }
  Graph graph;
  graph.name = name;
  if (!tflite::Walk(*model, std::move(tensors), *entry, graph, diagnostics).run())
    return std::nullopt;
  remove_dead(graph, "result is not used");
  write_minus_infinity(graph, "tflite.weights.finite", diagnostics);
  refuse_unusable_scales(graph, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return graph;
}

std::optional<Graph> import_tflite(const std::string& path, Diagnostics& diagnostics,
                                   const ModelPart& part) {
  const MappedFile file = map_file(path, diagnostics);
  if (!file.owner) return std::nullopt;
  return import_tflite(file.bytes, file.owner, path, diagnostics, part);
}

}  // namespace deuteron
