// SPDX-License-Identifier: Apache-2.0
// CHECK: our own mistakes. Prints both values and where, then ends the process with exit code 3; in
// a thread with a Watch it throws a Fault (base/watch.h). Never for the user's input.
#pragma once
#include <string>

namespace deuteron {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& values);
}

#define DEUTERON_CHECK(condition, ...)                                                      \
  do {                                                                                      \
    if (!(condition))                                                                       \
      ::deuteron::check_failed(__FILE__, __LINE__, #condition, ::std::string(__VA_ARGS__)); \
  } while (false)
