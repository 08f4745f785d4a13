// SPDX-License-Identifier: Apache-2.0
// Runs C++ work in a thread of its own while the caller's waits without the GIL, so that Ctrl-C and
// a progress callback get through.
#pragma once
#include "cli/python/objects.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/watch.h"

namespace deuteron {

// What the two threads tell each other.
struct WorkerState {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false, has_news = false;
  std::string what;  // the latest progress; what came before it is not kept
  int64_t done = 0, total = 0;
};

// Waits for the end of the work, asks Python for signals twenty times a second and hands progress
// to `progress` (what, done, total), or None. Whether Python has raised meanwhile, after it has
// told the work to stop.
bool wait_for_worker(WorkerState& state, Watch& watch, PyObject* progress);

// `work(watch)`: its result, or what it throws; KeyboardInterrupt and what `progress` raises end it
// early and come out here. With the GIL held.
template <class Work>
auto in_worker(PyObject* progress, Work work) {
  WorkerState state;
  Watch watch;
  watch.at = [&state](std::string_view what, int64_t done, int64_t total) {
    const std::lock_guard lock(state.mutex);
    state.what = what, state.done = done, state.total = total, state.has_news = true;
    state.changed.notify_one();
  };
  std::optional<decltype(work(watch))> result;
  std::exception_ptr thrown;
  std::thread thread([&] {
    try {
      const WatchScope scope(&watch);  // a CHECK that fails is an exception here
      result.emplace(work(watch));
    } catch (...) { thrown = std::current_exception(); }
    const std::lock_guard lock(state.mutex);
    state.is_done = true;
    state.changed.notify_one();
  });
  const bool raised = wait_for_worker(state, watch, progress);
  thread.join();
  if (raised) throw Raised{};
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*result);
}

}  // namespace deuteron
