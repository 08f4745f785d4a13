// Any bytes as a record, and what a profile asks of it.
#include "inspect/perfetto.h"
#include "traces/read_etrecord.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  Diagnostics diagnostics;
  const auto map = read_etrecord(std::span(reinterpret_cast<const std::byte*>(data), size), "fuzz", diagnostics);
  if (map.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (map) alive_by_call(*map);
  return 0;
}
