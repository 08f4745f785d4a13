// SPDX-License-Identifier: Apache-2.0
// Files and folders that are not in their place yet: gone when the process is told to end before
// they are.
#pragma once
#include <functional>
#include <mutex>
#include <string>

namespace deuteron {

// Registered as long as it lives. It removes nothing itself: who made the path does that.
class TemporaryPath {
 public:
  explicit TemporaryPath(std::string path);
  explicit TemporaryPath(const std::function<std::string()>&
                             make);  // of what `make` makes and names, in one step; "": nothing
  ~TemporaryPath();
  const std::string& path() const { return path_; }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

 private:
  std::string path_;
};

// Removes all that are registered, folders with what they hold. From then on nobody registers or
// forgets any: whoever tries waits for the end of the process, which must follow.
void remove_temporary_paths();

// While this is held remove_temporary_paths() waits: for steps that only together leave things in
// order.
std::unique_lock<std::mutex> hold_temporary_paths();

}  // namespace deuteron
