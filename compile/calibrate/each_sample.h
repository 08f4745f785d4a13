// SPDX-License-Identifier: Apache-2.0
// Runs a function for each sample, several at once, each within its own thread.
#pragma once
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/watch.h"
#include "ops/common/dnn.h"

namespace deuteron {

// Never more than the machine has: oneTBB would warn on standard error.
inline int thread_count(int threads) {
  const int most = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return threads > 0 ? std::min(threads, most) : most;
}

// One for all calls of a thread: what oneTBB takes for an arena it does not always give back once
// the thread has ended, and a compilation has hundreds of calls.
inline tbb::task_arena& arena_of_thread(int workers) {
  thread_local std::unique_ptr<tbb::task_arena> arena;
  if (!arena || arena->max_concurrency() != workers)
    arena = std::make_unique<tbb::task_arena>(workers);
  return *arena;
}

// body(index, worker), worker in 0..thread_count(threads)-1; threads 0: as many as the machine has.
// Ends early with Interrupted where the thread's Watch says so, and gives that watch to the
// workers.
template <class Body>
void for_each_sample(size_t count, int threads, const Body& body) {
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
