// SPDX-License-Identifier: Apache-2.0
// What the verbs of the command line share: how they are registered, and how each of them ends.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

class CommandLine;

using Json = nlohmann::ordered_json;

// Each adds its verb to the command line; the first adds all of them.
void add_verbs(CommandLine& line);
void add_analyze(CommandLine& line);
void add_doctor(CommandLine& line);
void add_compile(CommandLine& line);
void add_run(CommandLine& line);
void add_profile(CommandLine& line);
void add_evaluate(CommandLine& line);
void add_compare(CommandLine& line);
void add_inspect(CommandLine& line);
void add_firmware(CommandLine& line);
void add_flash(CommandLine& line);
void add_monitor(CommandLine& line);
void add_sign(CommandLine& line);
void add_targets(CommandLine& line);
void add_calibrate_target(CommandLine& line);
void add_ops(CommandLine& line);
void add_report_bug(CommandLine& line);
void add_help(CommandLine& line);  // help, version, completions, man

inline constexpr int kDone = 0, kUserError = 1, kWrongUsage = 2, kOurFault = 3;

// How much a verb prints: -q leaves the summary out, -v adds what is seldom needed. Of the process,
// as the terminal that it writes to.
enum class Verbosity : uint8_t { quiet, normal, verbose };
void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

// Ends a verb: diagnostics to standard error; without errors the summary to standard output;
// `result` with the diagnostics and the exit code to `json_path` ("": nowhere; "-": standard
// output, and then the summary goes to standard error). Answers the exit code.
int finish(const std::string& json_path, Diagnostics& diagnostics, Json result,
           const std::string& summary);

// Ends a verb that was called wrongly: what is wrong, and what helps, to standard error. Answers
// kWrongUsage.
int refuse_usage(const std::string& what, const char* help = "--help explains the options");

// How a verb ended that runs inside another program (cli/embed.h): what would else be printed. JSON
// files are written all the same.
struct VerbEnd {
  int code = kOurFault;
  std::string json, summary, usage;  // `usage`: why the call itself was wrong
  std::vector<Diagnostic> diagnostics;
};

// As long as it lives, verbs that this thread runs end there and print nothing.
class VerbEndScope {
 public:
  explicit VerbEndScope(VerbEnd& end);
  ~VerbEndScope();
  VerbEndScope(const VerbEndScope&) = delete;
  VerbEndScope& operator=(const VerbEndScope&) = delete;
};

// Seconds since this process began, time in the loader included; inside another program, since the
// verb began.
double seconds_of_process();
void note_start_of_process();  // first thing in main

// "1 sample", "2 samples"
std::string counted(long long n, const char* singular);

}  // namespace deuteron
