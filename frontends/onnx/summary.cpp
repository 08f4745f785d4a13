// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files/mapped_file.h"
#include "frontends/onnx/file/open.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron {
namespace onnx {

static OnnxSummary::Tensor describe(const ModelPort& p) {
  OnnxSummary::Tensor result{p.name, name_of(p.type), p.has_shape ? "" : "?"};
  for (size_t k = 0; k < p.shape.size(); ++k)
    result.shape += (k == 0 ? "" : ",") + (p.shape[k] >= 0        ? std::to_string(p.shape[k])
                                           : p.symbols[k].empty() ? std::string("?")
                                                                  : p.symbols[k]);
  return result;
}

static std::string full_name(std::string_view op, std::string_view domain) {
  return domain.empty() ? std::string(op) : fmt::format("{}.{}", domain, op);
}

static bool is_importable(const Model& model, const ModelNode& node) {
  if (find_import(node.op, node.domain) || (node.op == "If" && node.domain.empty())) return true;
  return std::any_of(model.functions.begin(), model.functions.end(), [&](const Function& f) {
    return f.name == node.op && f.domain == node.domain;
  });
}

}  // namespace onnx

std::optional<OnnxSummary> summarize_onnx(const std::string& path, Diagnostics& diagnostics) {
  const MappedFile file = map_file(path, diagnostics);
  if (!file.owner) return std::nullopt;
  const std::filesystem::path whole(path);
  OnnxSummary s;
  s.file = path;
  s.file_bytes = static_cast<i64>(file.bytes.size());
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  const auto model =
      onnx::open_onnx({reinterpret_cast<const u8*>(file.bytes.data()), file.bytes.size()}, s.file,
                      folder, diagnostics);
  if (!model) return std::nullopt;
  s.producer = model->producer;
  s.opset = model->opset(), s.ir_version = model->ir_version;
  s.functions = static_cast<i64>(model->functions.size());
  for (const auto& p : model->graph.inputs) s.inputs.push_back(onnx::describe(p));
  for (const auto& p : model->graph.outputs) s.outputs.push_back(onnx::describe(p));
  for (const auto& t : model->graph.initializers)
    ++s.initializers, s.initializer_bytes += static_cast<i64>(t.data.bytes.size());
  std::map<std::string, OnnxSummary::Operator> operators;
  for (const onnx::ModelNode& node : model->graph.nodes) {
    const std::string name = onnx::full_name(node.op, node.domain);
    OnnxSummary::Operator& row = operators[name];
    row = {name, row.count + 1, onnx::is_importable(*model, node)};
    ++s.nodes;
  }
  for (auto& [name, row] : operators) s.operators.push_back(std::move(row));
  return s;
}

std::string to_text(const OnnxSummary& s) {
  std::string text = fmt::format("{}: ONNX, opset {}, {} nodes, {} bytes\n", s.file, s.opset,
                                 s.nodes, s.file_bytes);
  if (!s.producer.empty()) text += fmt::format("written by {}\n", s.producer);
  for (const auto& t : s.inputs)
    text += fmt::format("input {}: {} [{}]\n", t.name, t.type, t.shape);
  for (const auto& t : s.outputs)
    text += fmt::format("output {}: {} [{}]\n", t.name, t.type, t.shape);
  text += fmt::format("initializers: {} tensors, {} bytes\n", s.initializers, s.initializer_bytes);
  for (const auto& op : s.operators)
    text +=
        fmt::format("{:6}  {}{}\n", op.count, op.name, op.is_importable ? "" : "  (not supported)");
  return text;
}

std::vector<std::string> imported_onnx_operators() {
  std::vector<std::string> names;
  for (const onnx::ImportRows rows : onnx::import_tables())
    for (const onnx::ImportRow& row : rows) names.push_back(onnx::full_name(row.op, row.domain));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace deuteron
