// SPDX-License-Identifier: Apache-2.0
// Runs a function for each sample, several at once, each within its own thread.
#pragma once
#include <cstddef>
#include <functional>

namespace deuteron {

// `threads`, or 0 for as many as the machine has. Never more than that: oneTBB would warn on
// standard error.
int thread_count(int threads);

// body(index, worker), worker in 0..thread_count(threads)-1; threads 0: as many as the machine has.
// Ends early with Interrupted where the thread's Watch says so, and gives that watch to the
// workers.
void for_each_sample(size_t count, int threads, const std::function<void(size_t, int)>& body);

}  // namespace deuteron
