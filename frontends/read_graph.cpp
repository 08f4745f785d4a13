// SPDX-License-Identifier: Apache-2.0
#include "frontends/read_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/tensor/axes.h"
#include "base/tensor/limits.h"
#include "frontends/onnx/file/open.h"
#include "frontends/onnx/import.h"
#include "frontends/pt2/import.h"
#include "frontends/tflite/import.h"
#include "ir/text.h"
#include "ops/families.h"

namespace deuteron {

namespace fs = std::filesystem;

static constexpr const char* kReadable =
    "give a .pt2 archive (torch.export.save), a .tflite or .onnx model or a graph in the text form "
    "(.txt)";

static bool has_extension(const std::string& path, std::string_view extension) {
  std::string found = fs::path(path).extension().string();
  for (char& c : found)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return found == extension;
}

// Identifiers: FlatBuffers file_identifier at byte 4 of the TFLite and ExecuTorch schemas.
static std::string_view identifier_of(std::string_view start) {
  return start.size() >= 8 ? start.substr(4, 4) : "";
}

// What the file seems to be, for the refusal.
static std::string kind_of(const std::string& path, std::string_view start) {
  const std::string_view identifier = identifier_of(start);
  if (identifier.substr(0, 2) == "ET" || has_extension(path, ".pte"))
    return "a compiled program, not a model";
  if (has_extension(path, ".pt") || has_extension(path, ".pth"))
    return "saved weights or a pickled module; export the model with torch.export first";
  return start.empty() ? "an empty file" : "not a model in a known format";
}

static std::optional<Graph> read_text(const std::string& path, std::ifstream& file,
                                      Diagnostics& diagnostics) {
  std::ostringstream text;
  file.clear();
  file.seekg(0);
  text << file.rdbuf();
  std::optional<Graph> graph = parse(text.view(), path, diagnostics);
  if (!graph) return std::nullopt;
  if (graph->name.empty()) graph->name = path;
  for (const Node& node : graph->nodes)
    if (call_of(node.op)) {
      diagnostics.error(
          path,
          fmt::format("holds {}: a graph after lowering is not a model", describe(*graph, node)),
          "model.lowered", "give the graph from before the pass `lower`");
      return std::nullopt;
    }
  return graph;
}

// A model whose sizes are fixed takes its own sizes, and no others.
static std::optional<Graph> with_shapes(std::optional<Graph> graph, const InputShapes& shapes,
                                        Diagnostics& diagnostics) {
  for (const auto& [name, shape] : graph ? shapes : InputShapes{}) {
    const auto port = std::ranges::find(graph->inputs, name, &Port::name);
    const bool is_there = port != graph->inputs.end();
    if (is_there && permuted(graph->type(port->value).shape, inverse(port->order)) == shape)
      continue;
    diagnostics.add(
        {Severity::error, graph->name,
         fmt::format("{} `{}`, which --input-shape names",
                     is_there ? "has a fixed size for input" : "has no input", name),
         to_text(shape),
         is_there ? to_text(permuted(graph->type(port->value).shape, inverse(port->order))) : "",
         "model.input_shape",
         "--input-shape is for sizes that the file leaves open: those of .pt2 and .onnx models"});
    return std::nullopt;
  }
  return graph;
}

static std::optional<Graph> read_file(const std::string& path, const InputShapes& shapes,
                                      const ModelPart& part, Diagnostics& diagnostics) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::is_regular_file(status)) {
    const bool missing = status.type() == fs::file_type::not_found;
    diagnostics.error(path,
                      missing                    ? "there is no such file"
                      : fs::is_directory(status) ? "is a folder, not a model"
                                                 : "is not a regular file",
                      "model.file", kReadable);
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    diagnostics.error(path, fmt::format("cannot be opened: {}", std::strerror(errno)),
                      "model.file");
    return std::nullopt;
  }
  if (has_extension(path, ".txt") && (part.is_cut() || !part.signature.empty())) {
    diagnostics.error(path, "is a graph in the text form, which is read as a whole",
                      "model.part.format",
                      "leave --signature, --inputs-at and --outputs-at out, and change the text");
    return std::nullopt;
  }
  char bytes[8];
  file.read(bytes, sizeof bytes);
  const std::string_view start(bytes, static_cast<size_t>(file.gcount()));
  const bool is_tflite = identifier_of(start) == "TFL3" || has_extension(path, ".tflite");
  if (!part.signature.empty() && !is_tflite) {
    diagnostics.error(path, "has no signatures, of which --signature names one",
                      "model.part.format", "a .tflite file has them");
    return std::nullopt;
  }
  if (has_extension(path, ".onnx") ||
      (onnx::may_be_onnx(start) && identifier_of(start).substr(0, 2) != "ET" &&
       identifier_of(start) != "TFL3"))
    return import_onnx(path, shapes, diagnostics, part);
  if (has_extension(path, ".txt"))
    return with_shapes(read_text(path, file, diagnostics), shapes, diagnostics);
  if (is_tflite) return with_shapes(import_tflite(path, diagnostics, part), shapes, diagnostics);
  // Local file header, or the end record of an empty archive: PKWARE APPNOTE, sections 4.3.7
  // and 4.3.16.
  const bool zip = start.substr(0, 4) == "PK\x03\x04" || start.substr(0, 4) == "PK\x05\x06";
  if (has_extension(path, ".pt2") ||
      (zip && !has_extension(path, ".pt") && !has_extension(path, ".pth")))
    return import_pt2(path, diagnostics, shapes, part);
  diagnostics.error(path, fmt::format("is {}", kind_of(path, start)), "model.format", kReadable);
  return std::nullopt;
}

// A few bytes can say any size. (A .pt2 is held against the same limit before its graph is made.)
static bool is_warranted(const Graph& g, const std::string& path, Diagnostics& diagnostics) {
  std::error_code failure;
  const uintmax_t of_file = fs::file_size(path, failure);
  size_t of_constants = 0;  // which may lie in files beside it
  for (const GraphValue& v : g.values) of_constants += v.constant ? v.constant->bytes.size() : 0;
  const i64 most = most_claimed_elements(
      static_cast<i64>(std::max<uintmax_t>(failure ? 0 : of_file, of_constants)));
  for (const GraphValue& v : g.values)
    if (!v.constant && v.type.elements() > most) {
      diagnostics.add({Severity::error, path,
                       fmt::format("`{}` has too many elements for a model of this size", v.name),
                       std::to_string(v.type.elements()), std::to_string(most), "model.tensor.size",
                       "make its sizes smaller"});
      return false;
    }
  return true;
}

std::optional<Graph> read_graph(const std::string& path, Diagnostics& diagnostics,
                                const InputShapes& shapes, const ModelPart& part) {
  std::optional<Graph> graph = read_file(path, shapes, part, diagnostics);
  if (graph && !is_warranted(*graph, path, diagnostics)) return std::nullopt;
  return graph;
}

}  // namespace deuteron
