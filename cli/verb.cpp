// SPDX-License-Identifier: Apache-2.0
#include "cli/verb.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/files/write_file.h"
#include "base/printable.h"
#include "cli/progress_line.h"

namespace deuteron {
namespace {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double g_start_of_main = 0, g_before_main = 0;
Verbosity g_verbosity = Verbosity::normal;
thread_local VerbEnd* t_end = nullptr;
thread_local double t_start_of_verb = 0;

Json as_json(const Diagnostic& d) {
  static constexpr const char* kSeverities[] = {"note", "warning", "error"};
  Json j = {{"severity", kSeverities[static_cast<int>(d.severity)]},
            {"where", d.where},
            {"what", d.what},
            {"rule", d.rule}};
  if (!d.measured.empty()) j["measured"] = d.measured, j["limit"] = d.limit;
  if (!d.fix.empty()) j["fix"] = d.fix;
  return j;
}

// Whether standard error shows colours: a terminal that can, of somebody who did not ask for none
// (https://no-color.org).
bool has_colours() {
  const char* none = std::getenv("NO_COLOR");
  return has_terminal() && (none == nullptr || *none == 0);
}

// `text` with its severity, the first such word from `from` on, in a colour where colours are
// shown.
std::string coloured(std::string text, Severity severity, size_t from) {
  if (!has_colours()) return text;
  static constexpr std::pair<std::string_view, int> kSeverities[] = {
      {"note: ", 36}, {"warning: ", 33}, {"error: ", 31}};
  const auto [word, colour] = kSeverities[static_cast<int>(severity)];
  const size_t at = text.find(word, from);
  return at == text.npos ? text
                         : text.replace(at, word.size(),
                                        fmt::format("\033[1;{}m{}\033[0m ", colour,
                                                    word.substr(0, word.size() - 1)));
}

}  // namespace

VerbEndScope::VerbEndScope(VerbEnd& end) { t_end = &end, t_start_of_verb = wall_clock(); }
VerbEndScope::~VerbEndScope() { t_end = nullptr; }

// The time before main is not seen by a clock that starts there; it is processor time of this
// process, mostly the dynamic loader's.
void note_start_of_process() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  g_before_main = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9;
  g_start_of_main = wall_clock();
}

double seconds_of_process() {
  return t_end ? wall_clock() - t_start_of_verb : g_before_main + wall_clock() - g_start_of_main;
}

void set_verbosity(Verbosity verbosity) { g_verbosity = verbosity; }
Verbosity verbosity() { return g_verbosity; }

int refuse_usage(const std::string& what, const char* help) {
  if (t_end) return t_end->usage = what, kWrongUsage;
  const std::string text = fmt::format("deuteron: error: {}\n    {}\n", what, help);
  std::fputs(coloured(text, Severity::error, 0).c_str(), stderr);
  return kWrongUsage;
}

// The result with its diagnostics and the exit code. Paths need not be UTF-8, JSON must be.
static std::string json_text(Json result, const Diagnostics& diagnostics, int code) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics.list()) list.push_back(as_json(d));
  if (!result.is_object() || code != kDone) result = Json::object();
  result["diagnostics"] = std::move(list);
  result["exit_code"] = code;
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int finish(const std::string& json_path, Diagnostics& diagnostics, Json result,
           const std::string& summary) {
  end_progress_line();
  int code = diagnostics.has_errors() ? kUserError : kDone;
  if (t_end || !json_path.empty()) {
    std::string text = json_text(std::move(result), diagnostics, code);
    if (!json_path.empty() && json_path != "-" &&
        !write_file(json_path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    diagnostics))
      code = kUserError;
    if (t_end)
      return *t_end = {code, std::move(text), printable(summary, Lines::kept), "",
                       diagnostics.list()},
             code;
    if (json_path == "-") std::fwrite(text.data(), 1, text.size(), stdout);
  }
  for (const Diagnostic& d : diagnostics.list()) {
    const size_t where = printable(d.where, Lines::escaped).size();
    std::fprintf(stderr, "%s\n", coloured(format_diagnostic(d), d.severity, where).c_str());
  }
  if (code == kDone && g_verbosity != Verbosity::quiet) {
    const std::string text = printable(summary, Lines::kept);
    std::fwrite(text.data(), 1, text.size(), json_path == "-" ? stderr : stdout);
  }
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  std::fprintf(stderr, "standard output: error: cannot be written  [output.write]\n");
  return kUserError;
}

std::string counted(long long n, const char* singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

}  // namespace deuteron
