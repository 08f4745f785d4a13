// Any bytes as a trace: read, attributed, printed in every form.
#include "inspect/perfetto.h"
#include "inspect/tables.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  Diagnostics diagnostics;
  const auto dump = read_etdump({reinterpret_cast<const std::byte*>(data), size}, "fuzz", diagnostics);
  if (dump.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (!dump) return 0;
  const auto profile = attribute(*dump, nullptr, "fuzz", diagnostics);
  if (!profile) __builtin_trap();
  profile_text(*profile, 5);
  profile_csv(*profile);
  perfetto_json(*profile, nullptr);
  compare_profiles(*profile, *profile);
  return 0;
}
