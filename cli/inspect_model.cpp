// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_model.h"

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "explain/inspect/file_map.h"
#include "explain/inspect/page.h"
#include "frontends/onnx/summary.h"
#include "frontends/pt2/summary.h"
#include "frontends/read_graph.h"
#include "frontends/tflite/summary.h"

namespace deuteron {
namespace {

Json as_json(const Pt2Summary::Weights& w) {
  return {{"tensors", w.tensors}, {"elements", w.elements}, {"bytes", w.bytes}};
}

// Of a model of TFLite or ONNX.
template <class Summary>
void add_ports_and_operators(Json& json, const Summary& s) {
  for (const auto& [list, tensors] :
       {std::pair("inputs", &s.inputs), std::pair("outputs", &s.outputs)}) {
    json[list] = Json::array();
    for (const auto& t : *tensors)
      json[list].push_back({{"name", t.name}, {"dtype", t.type}, {"sizes", t.shape}});
  }
  json["operators"] = Json::object();
  json["not_importable"] = Json::array();
  for (const auto& op : s.operators) {
    json["operators"][op.name] = op.count;
    if (!op.is_importable) json["not_importable"].push_back(op.name);
  }
}

// --html: the graph as it was read.
bool write_model_page(const InspectOptions& o, Diagnostics& diagnostics) {
  if (o.html.empty()) return true;
  const InputShapes shapes = parse_input_shapes(o.shapes, diagnostics);
  if (diagnostics.has_errors()) return false;
  const std::optional<Graph> graph = read_graph(o.file, diagnostics, shapes);
  if (!graph) return false;
  i64 constants = 0;
  for (size_t v = 0; v < graph->values.size(); ++v)
    if (graph->is_constant(static_cast<ValueId>(v)))
      constants += graph->type(static_cast<ValueId>(v)).bytes();
  return write_page(
      o.html,
      report_page(map_of_model(*graph, o.file), {{"of", "model"}, {"constants_bytes", constants}}),
      diagnostics);
}

}  // namespace

int inspect_pt2(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<Pt2Summary> s = summarize_pt2(o.file, diagnostics);
  if (!s || !write_model_page(o, diagnostics)) return finish(o.json, diagnostics, {}, "");
  Json json = {{"file", o.file},
               {"kind", "pt2"},
               {"torch_version", s->torch_version},
               {"flavour", s->flavour},
               {"quantized", s->is_quantized},
               {"file_bytes", s->file_bytes},
               {"nodes", s->nodes},
               {"parameters", as_json(s->parameters)},
               {"buffers", as_json(s->buffers)},
               {"unused", as_json(s->unused)},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"operators", Json::object()},
               {"not_importable", Json::array()}};
  for (const bool input : {true, false})
    for (const Pt2Summary::Tensor& t : input ? s->inputs : s->outputs)
      json[input ? "inputs" : "outputs"].push_back({{"name", t.name},
                                                    {"dtype", t.dtype},
                                                    {"sizes", t.shape},
                                                    {"channels_last", t.is_channels_last},
                                                    {"dynamic", t.is_dynamic}});
  for (const Pt2Summary::Operator& op : s->operators) {
    json["operators"][op.target] = op.count;
    if (!op.is_importable) json["not_importable"].push_back(op.target);
  }
  return finish(o.json, diagnostics, std::move(json), to_text(*s));
}

int inspect_tflite(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<TfliteSummary> s = summarize_tflite(o.file, diagnostics);
  if (!s || !write_model_page(o, diagnostics)) return finish(o.json, diagnostics, {}, "");
  Json json = {{"file", o.file},
               {"kind", "tflite"},
               {"description", s->description},
               {"file_bytes", s->file_bytes},
               {"nodes", s->operators_total},
               {"constants", {{"tensors", s->constants}, {"bytes", s->constant_bytes}}}};
  add_ports_and_operators(json, *s);
  return finish(o.json, diagnostics, std::move(json), to_text(*s));
}

int inspect_onnx(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<OnnxSummary> s = summarize_onnx(o.file, diagnostics);
  if (!s || !write_model_page(o, diagnostics)) return finish(o.json, diagnostics, {}, "");
  Json json = {{"file", o.file},
               {"kind", "onnx"},
               {"opset", s->opset},
               {"producer", s->producer},
               {"file_bytes", s->file_bytes},
               {"nodes", s->nodes},
               {"initializers", {{"tensors", s->initializers}, {"bytes", s->initializer_bytes}}}};
  add_ports_and_operators(json, *s);
  return finish(o.json, diagnostics, std::move(json), to_text(*s));
}

}  // namespace deuteron
