// SPDX-License-Identifier: Apache-2.0
// Any bytes as a graph in the text form: a diagnostic, or a graph that verifies, prints, and reads
// back as the same text.
#include "ir/text.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const std::optional<Graph> graph = parse(text, "fuzz.txt", diagnostics);
  DEUTERON_CHECK(graph.has_value() != diagnostics.has_errors());
  if (!graph) return 0;
  DEUTERON_CHECK(!find_fault(*graph));
  const std::string printed = print(*graph);
  const std::optional<Graph> again = parse(printed, "printed.txt", diagnostics);
  DEUTERON_CHECK(again.has_value(), printed);
  DEUTERON_CHECK(print(*again) == printed, printed);
  return 0;
}
