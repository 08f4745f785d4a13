// SPDX-License-Identifier: Apache-2.0
#include "cli/python/worker.h"

#include <nanobind/stl/string.h>

#include <utility>

namespace deuteron {

namespace nb = nanobind;

static void ask_python(const std::string& what, int64_t done, int64_t total, bool has_news,
                       const nb::object& progress) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (has_news && !progress.is_none()) progress(what, done, total);
}

std::exception_ptr wait_for_worker(WorkerState& state, Watch& watch, nb::object progress) {
  constexpr auto kTick = std::chrono::milliseconds(50);
  std::exception_ptr raised;
  const nb::gil_scoped_release released;
  std::unique_lock lock(state.mutex);
  while (!state.is_done || (state.has_news && !raised)) {
    if (!state.is_done)
      state.changed.wait_for(lock, kTick,
                             [&] { return state.is_done || (state.has_news && !raised); });
    const std::string what = state.what;
    const int64_t done = state.done, total = state.total;
    const bool has_news = std::exchange(state.has_news, false);
    if (raised) continue;
    lock.unlock();
    {
      const nb::gil_scoped_acquire held;
      try {
        ask_python(what, done, total, has_news, progress);
      } catch (...) {
        raised = std::current_exception();
        watch.stop = true;
      }
    }
    lock.lock();
  }
  return raised;
}

}  // namespace deuteron
