// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/printable.h"
#include "base/watch.h"

namespace deuteron {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  const std::string where = std::string(file) + ":" + std::to_string(line);
  const std::string text = where + ": " + condition + " does not hold" +
                           (values.empty() ? "" : ": ") + printable(values, Lines::escaped);
  if (watch_of_thread()) throw Fault(text);  // a program that has the compiler inside goes on
  std::fprintf(stderr,
               "deuteron: internal fault at %s\n    please report this with the model if you can\n",
               text.c_str());
  std::fflush(nullptr);
#ifdef DEUTERON_FUZZ
  std::abort();  // libFuzzer keeps the input of what aborts, not of what exits
#else
  std::_Exit(3);
#endif
}

}  // namespace deuteron
