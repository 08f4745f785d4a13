// SPDX-License-Identifier: Apache-2.0
// How long work tells whoever waits for it where it is, and learns that nobody waits any longer. A
// program that has the compiler inside gives a Watch to the thread that works; in a thread without
// one nothing happens.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace deuteron {

struct Watch {
  std::function<void(std::string_view what, int64_t done, int64_t total)>
      at;                          // called in the thread that works; may be empty
  std::atomic<bool> stop = false;  // set by another thread: end soon
};

// What ends watched work early. Nothing in between catches either: a caller with a Watch does.
struct Interrupted {};  // Watch::stop was set
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};  // a CHECK failed; without a Watch it ends the process

Watch* watch_of_thread();  // may be null

// The thread has this watch as long as it lives.
class WatchScope {
 public:
  explicit WatchScope(Watch* watch);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Watch* before_;
};

inline void stop_if_asked(const Watch* watch) {
  if (watch && watch->stop.load(std::memory_order_relaxed)) throw Interrupted{};
}

// Both: tells where the work is, and ends it if that was asked for.
void note_progress(std::string_view what, int64_t done, int64_t total);

}  // namespace deuteron
