// SPDX-License-Identifier: Apache-2.0
// The program `deuteron`: one verb for each thing that a user wants.
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command_line.h"
#include "cli/ends.h"
#include "cli/progress_line.h"
#include "cli/verb.h"

#if defined(DEUTERON_SANITIZED)
// A verb ends the process, and looking for leaks takes a third of a short one's time: the tests
// that call what it is made of look for them.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace {

// Before main: objects of libraries take memory as well.
[[gnu::constructor(101)]] void begin() { deuteron::end_in_order_without_memory(); }

// Exit codes: 0 done, 1 the user's input, 2 wrong usage, 3 a fault of ours.
int run_verb(int argc, char** argv) {
  using namespace deuteron;
  CommandLine line(limit_memory);
  add_verbs(line);
  return line.run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  deuteron::note_start_of_process();
  deuteron::end_in_order_on_signals();
  deuteron::begin_progress_line();
  try {
    return run_verb(argc, argv);
  } catch (const std::bad_alloc&) {
    deuteron::say_out_of_memory();
    return deuteron::kUserError;
  } catch (const std::exception& e) {
    if (deuteron::lacks_memory(e)) {
      deuteron::say_out_of_memory();
      return deuteron::kUserError;
    }
    std::fprintf(stderr,
                 "deuteron: internal fault: %s\n    please report this with the command line\n",
                 e.what());
    return deuteron::kOurFault;
  }
}
