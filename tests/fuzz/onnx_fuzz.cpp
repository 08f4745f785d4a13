// SPDX-License-Identifier: Apache-2.0
// The .onnx reader: a graph that comes out must verify. The summary of the same file. Weights may
// lie in the file w.bin beside it.
#include <cstdlib>

#include "frontends/onnx/import.h"
#include "frontends/onnx/summary.h"
#include "ir/verify.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/scratch_folder.h"

using namespace deuteron;

static void check(const std::optional<Graph>& graph, const Diagnostics& diagnostics) {
  if (graph.has_value() == diagnostics.has_errors()) std::abort();
  if (graph && find_fault(*graph)) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Diagnostics of_import, of_summary;
  const auto graph = import_onnx(std::as_bytes(std::span(data, size)), "net.onnx", {}, of_import);
  check(graph, of_import);
  if (bytes.find("location") != bytes.npos) {
    const test::ScratchFolder folder;
    folder.add("w.bin", std::string(64, 'w'));
    Diagnostics of_file;
    const auto with_weights = import_onnx(folder.add("net.onnx", bytes), {}, of_file);
    check(with_weights, of_file);
  }
  const test::MemoryFile file(data, size);
  const auto summary = summarize_onnx(file.path(), of_summary);
  if (summary.has_value() == of_summary.has_errors()) std::abort();
  if (summary) to_text(*summary);
  return 0;
}
