// Target files.
#include <string>

#include "base/check.h"
#include "targets/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const std::optional<Target> target = parse_target(text, "fuzz.toml", diagnostics);
  DEUTERON_CHECK(target.has_value() != diagnostics.has_errors());
  return 0;
}
