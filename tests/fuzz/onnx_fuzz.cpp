// The .onnx reader: a graph that comes out must verify.
#include <cstdlib>

#include "frontends/onnx/import.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  Diagnostics diagnostics;
  const auto graph = import_onnx(std::as_bytes(std::span(data, size)), "net.onnx", {}, diagnostics);
  if (graph.has_value() == diagnostics.has_errors()) std::abort();
  if (graph && find_fault(*graph)) std::abort();
  return 0;
}
