// SPDX-License-Identifier: Apache-2.0
#include "cli/ends.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "base/diagnostic.h"
#include "base/files/temporary_path.h"
#include "boards/gdb_line.h"
#include "boards/watched_process.h"
#include "cli/progress_line.h"
#include "cli/verb.h"

namespace deuteron {

void end_in_order_on_signals() {
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaddset(&watched, s);
  }
  pthread_sigmask(SIG_BLOCK, &watched,
                  nullptr);  // threads that are started later have the same mask
  std::thread([watched] {
    int number = 0;
    if (sigwait(&watched, &number) != 0) return;
    remove_temporary_paths();
    release_stopped_processors();
    end_progress_line();
    std::fprintf(stderr, "deuteron: ended by signal %d (%s)\n", number, sigdescr_np(number));
    ::_exit(128 + number);
  }).detach();
}

static std::atomic<bool> has_limit = false;

void limit_memory(size_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit_data_of_children(limit.rlim_cur);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, bytes);
  has_limit = ::setrlimit(RLIMIT_DATA, &limit) == 0;
}

void say_out_of_memory() {
  // Formatting would take memory.
  std::fputs(
      "deuteron: error: out of memory  [memory]\n    give fewer samples at once, or a smaller "
      "model",
      stderr);
  std::fputs(has_limit ? ", or a larger --max-memory\n" : "\n", stderr);
}

bool lacks_memory(const std::exception& e) {
  const auto* of_system = dynamic_cast<const std::system_error*>(&e);
  if (of_system) return of_system->code() == std::errc::resource_unavailable_try_again;
  return std::string_view(e.what()).starts_with("pthread_create has failed");
}

void end_in_order_without_memory() {
  // a library may swallow the exception before it ends the process
  static std::atomic<bool> is_missing = false;
  static const std::terminate_handler kUsual = std::get_terminate();
  std::set_new_handler([] {
    is_missing = true;
    throw std::bad_alloc();
  });
  std::set_terminate([] {
    if (!is_missing) kUsual();
    remove_temporary_paths();
    say_out_of_memory();
    ::_exit(kUserError);
  });
}

TimeLimit::TimeLimit(double seconds, std::function<int()> finish) {
  if (seconds <= 0) return;
  thread_ = std::thread([this, seconds, finish = std::move(finish)] {
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 1e8)),
                        [this] { return done_; }))
      return;
    const int code = finish();
    remove_temporary_paths();
    release_stopped_processors();
    std::fflush(nullptr);
    ::_exit(code);
  });
}

TimeLimit::~TimeLimit() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);  // not given back any more once the time is over
    done_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

TimeLimit limit_run(double seconds, const std::string& program, const std::string& json_path) {
  return TimeLimit(seconds, [=] {
    Diagnostics diagnostics;
    diagnostics.add({Severity::error, program, "the run was stopped before its end",
                     "still running", fmt::format("{:g} s", seconds), "run.timeout",
                     "give fewer samples, or a larger --timeout"});
    return finish(json_path, diagnostics, Json::object(), "");
  });
}

}  // namespace deuteron
