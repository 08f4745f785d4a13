// SPDX-License-Identifier: Apache-2.0
#include "cli/python/worker.h"

#include <utility>

namespace deuteron {

// With the GIL. False: Python has raised.
static bool ask_python(const std::string& what, int64_t done, int64_t total, bool has_news,
                       PyObject* progress) {
  if (PyErr_CheckSignals() != 0) return false;
  if (!has_news || progress == Py_None) return true;
  const Object result(
      PyObject_CallFunction(progress, "s#LL", what.data(), static_cast<Py_ssize_t>(what.size()),
                            static_cast<long long>(done), static_cast<long long>(total)));
  return result != nullptr;
}

bool wait_for_worker(WorkerState& state, Watch& watch, PyObject* progress) {
  constexpr auto kTick = std::chrono::milliseconds(50);
  bool raised = false;
  PyThreadState* thread = PyEval_SaveThread();
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
    PyEval_RestoreThread(thread);
    if (!ask_python(what, done, total, has_news, progress)) raised = watch.stop = true;
    thread = PyEval_SaveThread();  // an error that is set stays with this thread
    lock.lock();
  }
  lock.unlock();
  PyEval_RestoreThread(thread);
  return raised;
}

}  // namespace deuteron
