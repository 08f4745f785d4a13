// SPDX-License-Identifier: Apache-2.0
// Graphs in the text form through every pass: the text, a line `---`, and bytes that choose target,
// options and samples.
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/fuzz/compile_and_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  const std::string_view all(reinterpret_cast<const char*>(data), size),
      text = all.substr(0, all.find("\n---\n"));
  Diagnostics diagnostics;
  std::optional<Graph> graph = parse(text, "fuzz.txt", diagnostics);
  if (!graph) return 0;
  for (const Node& node : graph->nodes)  // read_graph() refuses them: such a graph is no model
    if (std::holds_alternative<KernelCall>(node.op)) return 0;
  const size_t used = std::min(size, text.size() + 5);
  test::Decisions decisions(data + used, size - used);
  test::compile_and_run(std::move(*graph), decisions);
  return 0;
}
