// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/progress.h"
#include "cli/verb.h"

namespace deuteron {
namespace {

struct Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::string text, shown;  // what was told last, and what the terminal has; empty: nothing yet
  bool ended = false;
};

// Never destroyed: its thread is not waited for.
Line& line() {
  static Line& l = *new Line;
  return l;
}

void rewrite() {
  using namespace std::chrono;
  Line& l = line();
  const auto start = steady_clock::now();
  std::unique_lock lock(l.mutex);
  while (!l.changed.wait_for(lock, milliseconds(100), [&l] { return l.ended; })) {
    const auto so_far = duration_cast<seconds>(steady_clock::now() - start).count();
    std::string now = fmt::format("{}, {} s", l.text, so_far);
    if (so_far < 1 || now == l.shown) continue;
    l.shown = std::move(now);
    std::fprintf(stderr, "\r\033[K%s", l.shown.c_str());
  }
}

void tell(std::string_view what, int64_t done, int64_t total) {
  Line& l = line();
  const std::lock_guard lock(l.mutex);
  if (l.ended || verbosity() == Verbosity::quiet) return;
  const bool is_first = l.text.empty();
  l.text = total > 1 ? fmt::format("{}, {} of {}", what, done, total) : std::string(what);
  if (!is_first) return;
  try {
    std::thread(rewrite).detach();
  } catch (const std::system_error&) {  // no room for a thread: no line
    l.ended = true;
  }
}

}  // namespace

bool has_terminal() {
  const char* name = std::getenv("TERM");
  return ::isatty(2) == 1 && name != nullptr && std::string_view(name) != "dumb";
}

void begin_progress_line() {
  if (has_terminal()) show_progress_by(tell);
}

void end_progress_line() {
  Line& l = line();
  const std::lock_guard lock(l.mutex);
  if (!l.shown.empty()) std::fputs("\r\033[K", stderr);
  l.ended = true, l.shown.clear();
  l.changed.notify_all();
}

}  // namespace deuteron
