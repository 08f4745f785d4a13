// SPDX-License-Identifier: Apache-2.0
// See model_face.h.
#include "npu/neutron/vendor/model_face.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/tflite/open.h"

namespace deuteron::neutron {
namespace {

std::string dtype_name(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType::INT8:
      return "int8";
    case tflite::TensorType::UINT8:
      return "uint8";
    case tflite::TensorType::INT16:
      return "int16";
    case tflite::TensorType::INT32:
      return "int32";
    case tflite::TensorType::FLOAT32:
      return "float32";
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

class FaceReader {
 public:
  explicit FaceReader(const tflite::Model& model)
      : model_(model), graph_(*model.subgraphs()->Get(0)) {}

  ModelFace read() const {
    ModelFace face;
    for (const i32 t : tflite::ints_of(graph_.inputs())) face.inputs.push_back(port(t));
    for (const i32 t : tflite::ints_of(graph_.outputs())) face.outputs.push_back(port(t));
    for (const tflite::Operator* o : *graph_.operators()) {
      const tflite::OperatorKind code = *tflite::code_of(model_, *o);
      ModelOperator op{
          code.custom.empty() ? tflite::name_of_builtin(code.builtin) : code.custom, {}, {}, {}};
      for (const i32 t : tflite::ints_of(o->inputs()))
        if (t >= 0)
          op.inputs.push_back(name_of_tensor(t)),
              op.is_constant.push_back(!tflite::buffer_of(model_, tensor(t)).empty());
      for (const i32 t : tflite::ints_of(o->outputs())) op.outputs.push_back(name_of_tensor(t));
      face.operators.push_back(std::move(op));
    }
    return face;
  }

 private:
  const tflite::Tensor& tensor(i32 t) const {
    return *graph_.tensors()->Get(static_cast<flatbuffers::uoffset_t>(t));
  }
  std::string name_of_tensor(i32 t) const {
    return tensor(t).name() ? tensor(t).name()->str() : "";
  }

  ModelPort port(i32 index) const {
    const tflite::Tensor& t = tensor(index);
    const auto shape = tflite::ints_of(t.shape());
    ModelPort p{name_of_tensor(index), dtype_name(t.type()), {shape.begin(), shape.end()}, {}, {}};
    if (const auto* q = t.quantization()) {
      if (q->scale()) p.scale.assign(q->scale()->begin(), q->scale()->end());
      if (q->zero_point()) p.zero_point.assign(q->zero_point()->begin(), q->zero_point()->end());
    }
    return p;
  }

  const tflite::Model& model_;
  const tflite::SubGraph& graph_;
};

// What two ports must have in common: a row for each, as text.
struct PortRow {
  const char* what;
  std::string asked, given;
};
std::optional<PortRow> difference(const ModelPort& asked, const ModelPort& given) {
  // a converter may leave out what the CPU needs no more
  const bool has_scale = !given.scale.empty();
  const PortRow rows[] = {
      {"type", asked.dtype, given.dtype},
      {"shape", fmt::format("[{}]", fmt::join(asked.shape, ",")),
       fmt::format("[{}]", fmt::join(given.shape, ","))},
      {"scale", has_scale ? fmt::format("{}", fmt::join(asked.scale, ",")) : "",
       fmt::format("{}", fmt::join(given.scale, ","))},
      {"zero point", has_scale ? fmt::format("{}", fmt::join(asked.zero_point, ",")) : "",
       has_scale ? fmt::format("{}", fmt::join(given.zero_point, ",")) : ""},
  };
  for (const PortRow& row : rows)
    if (row.asked != row.given) return row;
  return std::nullopt;
}

// By port of `given`: its index in `asked`. By place where a name is not known, or there twice.
std::vector<u8> by_name(const std::vector<ModelPort>& asked, const std::vector<ModelPort>& given) {
  std::vector<u8> order, places;
  for (const ModelPort& p : given) {
    const auto same = [&](const ModelPort& a) { return a.name == p.name; };
    places.push_back(static_cast<u8>(places.size()));
    if (std::count_if(asked.begin(), asked.end(), same) == 1)
      order.push_back(
          static_cast<u8>(std::find_if(asked.begin(), asked.end(), same) - asked.begin()));
  }
  std::vector<u8> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  return sorted == places ? order : places;
}

}  // namespace

ModelFace face_of_model(std::span<const u8> model) {
  return FaceReader(*tflite::GetModel(model.data())).read();
}

std::optional<PortOrder> match_ports(const ModelFace& asked, const ModelFace& result,
                                     const std::string& where, Diagnostics& diagnostics) {
  const auto fail = [&](std::string what, std::string measured, std::string limit) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit),
                     "neutron.external.ports",
                     "the result is not of the model that the converter was given"});
    return std::nullopt;
  };
  if (asked.inputs.size() != result.inputs.size() || asked.outputs.size() != result.outputs.size())
    return fail("inputs and outputs are not those of the model that it was given",
                fmt::format("{}, {}", result.inputs.size(), result.outputs.size()),
                fmt::format("{}, {}", asked.inputs.size(), asked.outputs.size()));
  PortOrder order{by_name(asked.inputs, result.inputs), by_name(asked.outputs, result.outputs)};
  std::string moved;
  const auto check = [&](const char* side, const std::vector<ModelPort>& a,
                         const std::vector<ModelPort>& g, const std::vector<u8>& at) {
    for (size_t k = 0; k < g.size(); ++k) {
      if (at[k] != k) moved += fmt::format("{}{} `{}`", moved.empty() ? "" : ", ", side, g[k].name);
      const auto row = difference(a[at[k]], g[k]);
      if (!row) continue;
      fail(fmt::format("{} of {} `{}`, asked for as `{}`", row->what, side, g[k].name,
                       a[at[k]].name),
           row->given, row->asked);
      return false;
    }
    return true;
  };
  if (!check("input", asked.inputs, result.inputs, order.inputs) ||
      !check("output", asked.outputs, result.outputs, order.outputs))
    return std::nullopt;
  if (!moved.empty())
    diagnostics.add({Severity::note,
                     where,
                     fmt::format("has its ports in another order, matched by name: {}", moved),
                     {},
                     {},
                     "neutron.external.port_order",
                     {}});
  return order;
}

}  // namespace deuteron::neutron
