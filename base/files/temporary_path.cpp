// SPDX-License-Identifier: Apache-2.0
#include "base/files/temporary_path.h"

#include <pthread.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

namespace deuteron {
namespace {

struct Registry {
  std::mutex mutex;
  std::multiset<std::string> paths;
};
Registry& registry();

// A child that was forked has an open lock, and none of its parent's files to remove.
Registry* make_registry() {
  pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                 [] {
                   registry().paths.clear();
                   registry().mutex.unlock();
                 });
  return new Registry;
}

// Never destroyed: a signal may come while the process ends.
Registry& registry() {
  static Registry* all = make_registry();
  return *all;
}

}  // namespace

TemporaryPath::TemporaryPath(std::string path) : path_(std::move(path)) {
  const auto held = hold_temporary_paths();
  registry().paths.insert(path_);
}

TemporaryPath::TemporaryPath(const std::function<std::string()>& make) {
  const auto held = hold_temporary_paths();
  path_ = make();
  registry().paths.insert(path_);
}

TemporaryPath::~TemporaryPath() {
  const auto held = hold_temporary_paths();
  const auto at = registry().paths.find(path_);
  if (at != registry().paths.end())
    registry().paths.erase(at);  // a child that was forked does not have it
}

void remove_temporary_paths() {
  hold_temporary_paths().release();
  constexpr int kTries = 3;  // another thread may be writing into a folder; it stops at the next
                             // file that it registers
  for (int k = 0; k < kTries && !registry().paths.empty(); ++k) {
    if (k > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::error_code ignored;
    for (const std::string& path : registry().paths)
      if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
}

std::unique_lock<std::mutex> hold_temporary_paths() { return std::unique_lock(registry().mutex); }

}  // namespace deuteron
