// SPDX-License-Identifier: Apache-2.0
// Any bytes as a record, and what a profile asks of it. Where the first byte is below 3, the rest
// is one entry of an otherwise sound record whose checksums are right, so that its JSON is reached.
#include "base/check.h"
#include "explain/inspect/perfetto.h"
#include "explain/traces/read_etrecord.h"
#include "frontends/pt2/test_archive.h"
#include "tests/fuzz/memory_file.h"

using namespace deuteron;

static std::string record_with(size_t entry, const std::string& text) {
  pt2::ZipEntries entries = {
      {"delegate_map",
       R"({"forward": {"1": {"name": "NeutronBackend",)"
       R"("delegate_map": {"1000": [2], "1001": 2}}}})"},
      {"debug_handle_map", R"({"forward": {"0": [1], "1": [2, 3], "2": 1}})"},
      {"edge_dialect_exported_program/forward",
       R"({"graph_module": {"graph": {"nodes": [
           {"name": "a", "target": "torch.ops.aten.conv2d.default", "inputs": [],
            "outputs": [{"as_tensor": {"name": "a"}}],
            "metadata": {"debug_handle": "1",
                         "nn_module_stack": "L['self'],,net;L['self'].body[0],body.0,conv"}},
           {"target": "torch.ops.aten.relu.default",
            "inputs": [{"arg": {"as_tensor": {"name": "a"}}}],
            "outputs": [{"as_tensor": {"name": "b"}}], "metadata": {"debug_handle": "2"}}]}}})"},
      {"ETRECORD_V0", ""}};
  entries[entry].second = text;
  return pt2::stored_zip(entries);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (data[0] < 3) bytes = record_with(data[0], bytes.substr(1));
  Diagnostics diagnostics;
  const test::MemoryFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const auto map = read_etrecord(file.path(), diagnostics);
  DEUTERON_CHECK(map.has_value() != diagnostics.has_errors());
  if (map) DEUTERON_CHECK(is_etrecord(std::as_bytes(std::span(bytes))));
  if (map) alive_by_call(*map);
  return 0;
}
