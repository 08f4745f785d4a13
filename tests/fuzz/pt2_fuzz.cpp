// SPDX-License-Identifier: Apache-2.0
// The .pt2 reader. The first byte says what the rest is: a whole archive, or one entry of an
// otherwise sound archive whose checksums are right, so that the JSON is reached. A graph that
// comes out must verify. The summary of the same file.
#include <cstdlib>

#include "base/check.h"
#include "frontends/pt2/summary.h"
#include "frontends/pt2/test_archive.h"
#include "ir/verify.h"
#include "tests/fuzz/memory_file.h"

using namespace deuteron;
using namespace deuteron::pt2;

static TestModel sound_model() {
  TestModel m;
  m.input("x", {1, 3, 6, 6});
  m.parameter("w", {4, 3, 3, 3}, std::vector<float>(108, 0.5f));
  m.parameter("q", {2, 4}, std::vector<int8_t>(8, 3), kS8);
  m.node("aten.conv2d.default", {{"c", {1, 4, 4, 4}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("p_w")}});
  m.output("c");
  return m;
}

// Of a program with open sizes, where the user says those of `x`.
static void check_given_sizes(const std::string& path) {
  for (size_t rank = 0; rank <= 4; ++rank) {
    Diagnostics diagnostics;
    const auto graph = import_pt2(path, diagnostics, {{"x", Shape(rank, 4)}});
    DEUTERON_CHECK(graph.has_value() != diagnostics.has_errors());
    if (graph) DEUTERON_CHECK(!find_fault(*graph));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string bytes = rest;
  if (data[0] != 0) {
    static const ZipEntries kSound = sound_model().entries();
    ZipEntries entries = kSound;
    // 1..: entries from the last, so that 4 is models/model.json whatever the number of weights.
    entries[entries.size() - 1 - (data[0] - 1) % entries.size()].second = rest;
    bytes = stored_zip(entries);
  }
  Diagnostics diagnostics;
  const auto graph = import_bytes(bytes, diagnostics);
  DEUTERON_CHECK(graph.has_value() != diagnostics.has_errors());
  if (graph) {
    const auto fault = find_fault(*graph);
    DEUTERON_CHECK(!fault, *fault);
  }
  const test::MemoryFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Diagnostics of_summary;
  const auto summary = summarize_pt2(file.path(), of_summary);
  DEUTERON_CHECK(summary.has_value() != of_summary.has_errors());
  if (summary) to_text(*summary);
  if (bytes.find("as_expr") != bytes.npos) check_given_sizes(file.path());
  return 0;
}
