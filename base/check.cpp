#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/printable.h"

namespace deuteron {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  std::fprintf(stderr, "deuteron: internal fault at %s:%d: %s does not hold%s%s\n    please report this with the model if you can\n", file,
               line, condition, values.empty() ? "" : ": ", printable(values, Lines::escaped).c_str());
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace deuteron
