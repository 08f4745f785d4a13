// SPDX-License-Identifier: Apache-2.0
#include "base/watch.h"

#include "base/progress.h"

namespace deuteron {

static thread_local Watch* t_watch = nullptr;
static void (*g_show)(std::string_view, int64_t, int64_t) = nullptr;

Watch* watch_of_thread() { return t_watch; }

WatchScope::WatchScope(Watch* watch) : before_(t_watch) { t_watch = watch; }
WatchScope::~WatchScope() { t_watch = before_; }

void show_progress_by(void (*show)(std::string_view, int64_t, int64_t)) { g_show = show; }

void note_progress(std::string_view what, int64_t done, int64_t total) {
  Watch* watch = t_watch;
  stop_if_asked(watch);
  if (watch && watch->at) watch->at(what, done, total);
  if (!watch && g_show) g_show(what, done, total);
}

}  // namespace deuteron
