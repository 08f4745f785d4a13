// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/files/mapped_file.h"
#include "frontends/tflite/call/tensors.h"
#include "frontends/tflite/operators/import_table.h"

namespace deuteron {
namespace tflite {

static TfliteSummary::Tensor describe(const Tensor& t) {
  TfliteSummary::Tensor result{t.name() ? t.name()->str() : "", name_of_type(t.type()), {}};
  for (const i32 extent : ints_of(t.shape())) result.shape.push_back(extent);
  const QuantizationParameters* q = t.quantization();
  if (q && q->scale() && q->scale()->size() == 1)
    result.type += fmt::format(" scale {:g}", q->scale()->Get(0));
  return result;
}

static void count_constants(const Model& model, TfliteSummary& s) {
  for (const Tensor* t : *model.subgraphs()->Get(0)->tensors())
    if (const auto data = buffer_of(model, *t); !data.empty())
      ++s.constants, s.constant_bytes += static_cast<i64>(data.size());
}

}  // namespace tflite

std::optional<TfliteSummary> summarize_tflite(const std::string& path, Diagnostics& diagnostics) {
  const MappedFile file = map_file(path, diagnostics);
  if (!file.owner) return std::nullopt;
  TfliteSummary s;
  s.file = path;
  s.file_bytes = static_cast<i64>(file.bytes.size());
  const tflite::Model* model =
      tflite::open_tflite({reinterpret_cast<const u8*>(file.bytes.data()), file.bytes.size()},
                          s.file, diagnostics, tflite::kMostSubgraphs);
  if (!model) return std::nullopt;
  if (model->description()) s.description = model->description()->str();
  const tflite::SubGraph& graph = *model->subgraphs()->Get(0);
  for (const i32 id : tflite::ints_of(graph.inputs()))
    s.inputs.push_back(tflite::describe(*graph.tensors()->Get(static_cast<uint32_t>(id))));
  for (const i32 id : tflite::ints_of(graph.outputs()))
    s.outputs.push_back(tflite::describe(*graph.tensors()->Get(static_cast<uint32_t>(id))));
  std::map<std::string, TfliteSummary::Operator> operators;
  for (const tflite::Operator* op : *graph.operators()) {
    const tflite::OperatorKind kind = *tflite::code_of(*model, *op);
    const std::string name =
        kind.custom.empty() ? tflite::name_of_builtin(kind.builtin) : kind.custom;
    TfliteSummary::Operator& row = operators[name];
    row = {name, row.count + 1,
           kind.custom.empty() && tflite::find_import(kind.builtin) != nullptr};
    ++s.operators_total;
  }
  for (auto& [name, row] : operators) s.operators.push_back(std::move(row));
  tflite::count_constants(*model, s);
  return s;
}

std::string to_text(const TfliteSummary& s) {
  std::string text =
      fmt::format("{}: TFLite, {} operators, {} bytes\n", s.file, s.operators_total, s.file_bytes);
  if (!s.description.empty()) text += fmt::format("description: {}\n", s.description);
  for (const auto& t : s.inputs)
    text += fmt::format("input {}: {} [{}]\n", t.name, t.type, to_text(t.shape));
  for (const auto& t : s.outputs)
    text += fmt::format("output {}: {} [{}]\n", t.name, t.type, to_text(t.shape));
  text += fmt::format("constants: {} tensors, {} bytes\n", s.constants, s.constant_bytes);
  for (const auto& op : s.operators)
    text +=
        fmt::format("{:6}  {}{}\n", op.count, op.name, op.is_importable ? "" : "  (not supported)");
  return text;
}

std::vector<std::string> imported_tflite_builtins() {
  std::vector<std::string> names;
  for (const tflite::ImportRows rows : tflite::import_tables())
    for (const tflite::ImportRow& row : rows)
      names.push_back(tflite::name_of_builtin(static_cast<i32>(row.builtin)));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace deuteron
