// SPDX-License-Identifier: Apache-2.0
// The .tflite reader: a graph that comes out must verify. The summary of the same file.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/summary.h"
#include "ir/verify.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  auto owner = std::make_shared<std::vector<i64>>(size / 8 + 1);
  if (size > 0) std::memcpy(owner->data(), data, size);
  Diagnostics diagnostics;
  const auto graph = import_tflite(std::as_bytes(std::span<const i64>(*owner)).first(size), owner,
                                   "net.tflite", diagnostics);
  if (graph.has_value() == diagnostics.has_errors()) std::abort();
  if (graph && find_fault(*graph)) std::abort();
  const test::MemoryFile file(data, size);
  Diagnostics of_summary;
  const auto summary = summarize_tflite(file.path(), of_summary);
  if (summary.has_value() == of_summary.has_errors()) std::abort();
  if (summary) to_text(*summary);
  return 0;
}
