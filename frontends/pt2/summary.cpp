// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"
#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron {
namespace {

using pt2::Program;
using pt2::ProgramInput;
using pt2::TensorMeta;

Pt2Summary::Tensor describe_tensor(const Program& program, const std::string& name) {
  Pt2Summary::Tensor t;
  t.name = name;
  const auto it = program.tensors.find(name);
  if (it == program.tensors.end()) return t;
  const TensorMeta& m = it->second;
  t.dtype = pt2::name_of_code(m.dtype_code);
  t.shape = m.sizes;
  t.is_channels_last =
      m.sizes.size() == 4 && pt2::storage_order(m.sizes, m.strides) == Axes{0, 2, 3, 1};
  t.is_dynamic = m.dynamic;
  return t;
}

std::set<std::string_view> names_that_are_read(const Program& program) {
  std::set<std::string_view> names;
  for (const auto& node : program.nodes)
    for (const auto& [argument, value] : node.arguments) {
      if (value.kind == pt2::Argument::Kind::tensor) names.insert(value.text);
      for (const std::string& name : value.names) names.insert(name);
    }
  for (const auto& out : program.outputs)
    if (out.kind == pt2::ProgramOutput::Kind::tensor) names.insert(out.name);
  return names;
}

void count_weights(const Program& program, Pt2Summary& s) {
  const auto read = names_that_are_read(program);
  for (const ProgramInput& in : program.inputs) {
    const bool is_parameter = in.kind == ProgramInput::Kind::parameter;
    if (!is_parameter && in.kind != ProgramInput::Kind::buffer &&
        in.kind != ProgramInput::Kind::constant)
      continue;
    const auto& entries = in.in_constants ? program.constants : program.weights;
    const auto it = entries.find(in.key);
    if (it == entries.end()) continue;
    const TensorMeta& m = it->second.meta;
    Pt2Summary::Weights& w = !read.contains(in.name) ? s.unused
                             : is_parameter          ? s.parameters
                                                     : s.buffers;
    const i64 elements = numel(m.sizes);
    ++w.tensors;
    w.elements += elements;
    w.bytes += elements * (m.dtype ? bytes_of(*m.dtype) : 0);
  }
}

}  // namespace

std::optional<Pt2Summary> summarize_pt2(const std::string& path, Diagnostics& diagnostics) {
  const auto archive = pt2::open_archive(path, diagnostics);
  const auto program = archive ? pt2::read_program(*archive, diagnostics) : std::nullopt;
  if (!program) return std::nullopt;
  Pt2Summary s;
  s.file = archive->name;
  s.torch_version = program->torch_version;
  s.flavour = program->flavour;
  s.file_bytes = static_cast<i64>(archive->bytes.size());
  s.nodes = static_cast<i64>(program->nodes.size());
  for (const ProgramInput& in : program->inputs)
    if (in.kind == ProgramInput::Kind::user) s.inputs.push_back(describe_tensor(*program, in.name));
  for (const auto& out : program->outputs)
    if (out.kind == pt2::ProgramOutput::Kind::tensor)
      s.outputs.push_back(describe_tensor(*program, out.name));
  std::map<std::string, i64> counts;
  for (const auto& node : program->nodes) ++counts[node.target];
  for (const auto& [target, count] : counts) {
    s.operators.push_back({target, count, pt2::find_import(target).row != nullptr});
    s.is_quantized = s.is_quantized || target.starts_with("quantized_decomposed.");
  }
  count_weights(*program, s);
  return s;
}

std::string to_text(const Pt2Summary& s) {
  std::string text =
      fmt::format("{}: torch {}, {} graph{}, {} nodes, {} bytes\n", s.file,
                  s.torch_version.empty() ? "of unknown version" : s.torch_version, s.flavour,
                  s.is_quantized ? ", quantized" : "", s.nodes, s.file_bytes);
  const auto tensors = [&](std::string_view kind, const std::vector<Pt2Summary::Tensor>& list) {
    for (const auto& t : list)
      text +=
          fmt::format("{} {}: {}[{}]{}{}\n", kind, t.name, t.dtype, to_text(t.shape),
                      t.is_channels_last ? " channels last" : "", t.is_dynamic ? " dynamic" : "");
  };
  tensors("input", s.inputs);
  tensors("output", s.outputs);
  const auto weights = [&](std::string_view kind, const Pt2Summary::Weights& w) {
    if (w.tensors)
      text += fmt::format("{}: {} tensors, {} elements, {} bytes\n", kind, w.tensors, w.elements,
                          w.bytes);
  };
  weights("parameters", s.parameters);
  weights("buffers and constants", s.buffers);
  weights("unused", s.unused);
  for (const auto& op : s.operators)
    text += fmt::format("{:6}  {}{}\n", op.count, op.target,
                        op.is_importable ? "" : "  (not supported)");
  return text;
}

}  // namespace deuteron
