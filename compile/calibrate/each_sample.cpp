// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/each_sample.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/watch.h"

namespace deuteron {
namespace {

// One for all calls of a thread: what oneTBB takes for an arena it does not always give back once
// the thread has ended, and a compilation has hundreds of calls.
tbb::task_arena& arena_of_thread(int workers) {
  thread_local std::unique_ptr<tbb::task_arena> arena;
  if (!arena || arena->max_concurrency() != workers)
    arena = std::make_unique<tbb::task_arena>(workers);
  return *arena;
}

}  // namespace

int thread_count(int threads) {
  const int most = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return threads > 0 ? std::min(threads, most) : most;
}

void for_each_sample(size_t count, int threads, const std::function<void(size_t, int)>& body) {
  const int workers =
      static_cast<int>(std::min<size_t>(static_cast<size_t>(thread_count(threads)), count));
  Watch* const watch = watch_of_thread();
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) {
      stop_if_asked(watch);
      body(i, 0);
    }
    return;
  }
  arena_of_thread(thread_count(threads)).execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, count, 1),
        [&](const tbb::blocked_range<size_t>& range) {
          const WatchScope scope(watch);
          for (size_t i = range.begin(); i < range.end(); ++i) {
            stop_if_asked(watch);
            body(i, tbb::this_task_arena::current_thread_index());
          }
        },
        tbb::simple_partitioner());
  });
}

}  // namespace deuteron
