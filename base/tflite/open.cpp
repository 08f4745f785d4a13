// SPDX-License-Identifier: Apache-2.0
// See open.h.
#include "base/tflite/open.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace deuteron::tflite {
namespace {

constexpr uint32_t kVersion = 3;
constexpr int kDeepest = 16;            // levels of tables: a model has 6
constexpr int kMostTables = 4'000'000;  // beyond any model that a microcontroller holds

struct Opening {
  const std::string& where;
  Diagnostics& diagnostics;
  const tflite::Model* fail(std::string what, const char* rule, std::string measured = {},
                            std::string limit = {}) {
    diagnostics.add(
        {Severity::error, where, std::move(what), std::move(measured), std::move(limit), rule, {}});
    return nullptr;
  }
};

bool in_range(std::span<const i32> ids, i64 end, i32 lowest) {
  return std::all_of(ids.begin(), ids.end(), [&](i32 id) { return id >= lowest && id < end; });
}

}  // namespace

std::span<const i32> ints_of(const flatbuffers::Vector<i32>* v) {
  return v ? std::span<const i32>(v->data(), v->size()) : std::span<const i32>();
}

std::vector<i64> longs_of(const flatbuffers::Vector<int64_t>* v) {
  std::vector<i64> values(v ? v->size() : 0);
  if (!values.empty()) std::memcpy(values.data(), v->Data(), values.size() * sizeof(int64_t));
  return values;
}

static bool check_subgraph(Opening& o, const tflite::Model& m, const tflite::SubGraph& g) {
  const auto fail = [&](std::string what, const char* rule, std::string measured = {},
                        std::string limit = {}) {
    o.fail(std::move(what), rule, std::move(measured), std::move(limit));
    return false;
  };
  if (!g.tensors() || !g.operators())
    return fail("no tensors or no operators", "tflite.file.tables");
  const i64 tensors = g.tensors()->size();
  for (const tflite::Tensor* t : *g.tensors())
    if (t->buffer() >= m.buffers()->size())
      return fail(fmt::format("tensor `{}` names a buffer that does not exist",
                              t->name() ? t->name()->string_view() : ""),
                  "tflite.file.buffer", fmt::format("{}", t->buffer()),
                  fmt::format("below {}", m.buffers()->size()));
  if (!in_range(ints_of(g.inputs()), tensors, 0) || !in_range(ints_of(g.outputs()), tensors, 0))
    return fail("an input or output of the graph names a tensor that does not exist",
                "tflite.file.tensor");
  for (const tflite::Operator* op : *g.operators()) {
    if (op->opcode_index() >= m.operator_codes()->size())
      return fail("an operator names a code that does not exist", "tflite.file.code",
                  fmt::format("{}", op->opcode_index()),
                  fmt::format("below {}", m.operator_codes()->size()));
    if (!in_range(ints_of(op->inputs()), tensors, -1) ||
        !in_range(ints_of(op->outputs()), tensors, 0))
      return fail("an operator names a tensor that does not exist", "tflite.file.tensor");
  }
  return true;
}

const tflite::Model* open_tflite(std::span<const u8> bytes, const std::string& where,
                                 Diagnostics& diagnostics, size_t most_subgraphs) {
  Opening o{where, diagnostics};
  if (bytes.size() < 16 || bytes.size() > FLATBUFFERS_MAX_BUFFER_SIZE)
    return o.fail("not a TFLite model", "tflite.file.size", fmt::format("{} bytes", bytes.size()),
                  "16 bytes to 2 GiB");
  // The vectors of a flatbuffer are read in place: the start must be aligned.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0)
    return o.fail("the bytes are not aligned", "tflite.file.alignment");
  if (!tflite::ModelBufferHasIdentifier(bytes.data()))
    return o.fail("not a TFLite model: no `TFL3` at byte 4", "tflite.file.identifier");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kDeepest, kMostTables);
  if (!tflite::VerifyModelBuffer(verifier))
    return o.fail("the flatbuffer is damaged", "tflite.file.verify");
  const tflite::Model* m = tflite::GetModel(bytes.data());
  if (m->version() != kVersion)
    return o.fail("unknown version of the TFLite schema", "tflite.file.version",
                  fmt::format("{}", m->version()), "3");
  const size_t graphs = m->subgraphs() ? m->subgraphs()->size() : 0;
  if (graphs < 1 || graphs > most_subgraphs)
    return o.fail("a model has another number of subgraphs", "tflite.file.subgraphs",
                  fmt::format("{}", graphs),
                  most_subgraphs == 1 ? "1" : fmt::format("1..{}", most_subgraphs));
  if (!m->buffers() || !m->operator_codes())
    return o.fail("no buffers or no operator codes", "tflite.file.tables");
  for (const tflite::SubGraph* g : *m->subgraphs())
    if (!check_subgraph(o, *m, *g)) return nullptr;
  return m;
}

std::optional<OperatorKind> code_of(const tflite::Model& model, const tflite::Operator& op) {
  if (op.opcode_index() >= model.operator_codes()->size()) return std::nullopt;
  const tflite::OperatorCode* c = model.operator_codes()->Get(op.opcode_index());
  const i32 builtin =
      std::max<i32>(c->deprecated_builtin_code(), static_cast<i32>(c->builtin_code()));
  return OperatorKind{builtin, c->custom_code() ? c->custom_code()->str() : std::string()};
}

std::string name_of_builtin(i32 builtin) {
  const char* name = tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(builtin));
  return name && *name ? std::string(name) : fmt::format("builtin {}", builtin);
}

std::span<const u8> buffer_of(const tflite::Model& model, const tflite::Tensor& tensor) {
  const tflite::Buffer* b = model.buffers()->Get(tensor.buffer());
  return b->data() ? std::span<const u8>(b->data()->data(), b->data()->size())
                   : std::span<const u8>();
}

}  // namespace deuteron::tflite
