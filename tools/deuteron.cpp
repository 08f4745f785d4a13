// The program `deuteron`: one verb for each thing that a user wants.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "targets/nearest.h"
#include "tools/verb.h"

namespace {

// Exit codes: 0 done, 1 the user's input, 2 wrong usage, 3 a fault of ours.
int run_verb(int argc, char** argv) {
  using namespace deuteron;
  CLI::App app{"Makes a trained PyTorch model run as int8 on a microcontroller.", "deuteron"};
  app.set_version_flag("--version", std::string("deuteron " DEUTERON_VERSION));
  app.footer(
      "`deuteron VERB --help` says more and gives an example. Exit codes: 0 done, 1 a fault of the input, 2 wrong usage, 3 a fault of "
      "deuteron.");
  app.require_subcommand(1);
  Action chosen;
  for (auto add :
       {add_analyze, add_compile, add_run, add_profile, add_evaluate, add_compare, add_inspect, add_firmware, add_targets, add_ops})
    add(app, chosen);
  // CLI11 would say that a verb is required, whatever stands there.
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(verbs.begin(), verbs.end(), argv[1]) == verbs.end()) {
    std::fprintf(stderr, "deuteron: error: there is no verb `%s`: %s\n    `deuteron --help` says what each does\n", argv[1],
                 suggestion(argv[1], verbs).c_str());
    return kWrongUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? kDone : kWrongUsage; }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  deuteron::note_start_of_process();
  try {
    return run_verb(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "deuteron: error: out of memory  [memory]\n    give fewer samples at once, or a smaller model\n");
    return deuteron::kUserError;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "deuteron: internal fault: %s\n    please report this with the command line\n", e.what());
    return deuteron::kOurFault;
  }
}
