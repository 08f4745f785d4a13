// SPDX-License-Identifier: Apache-2.0
// Runs a program with given files as its descriptors 3, 4, ..., reads its text line by line, and
// ends it when its time is up. No shell, no terminal, no files on disk; the child dies with us.
// Linux only. Thread-safe.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

// A file without a name: gone when it is closed and nobody else has it open, whatever happens to
// the process.
class MemoryFile {
 public:
  MemoryFile() = default;
  explicit MemoryFile(const char* label);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  bool append(std::span<const uint8_t> bytes);  // false: errno says why
  std::vector<uint8_t> content() const;
  int descriptor() const { return descriptor_; }  // -1: could not be made

 private:
  int descriptor_ = -1;
};

struct ProcessEnd {
  int start_error = 0;  // errno of the start; the rest means nothing when it is not 0
  int exit_code = -1;   // when it ended by itself
  int signal = 0;       // when a signal ended it
  bool timed_out = false;
};

enum class HostFiles : uint8_t { open, read_only };

// Children have this limit of data (RLIMIT_DATA) and not ours, which the user may have set for us:
// QEMU alone reserves a gigabyte.
void limit_data_of_children(uint64_t bytes);

// Ends with Interrupted, the child gone, where the thread's Watch says so (base/watch.h).
// `on_line` gets each line of the child's output and error text without its end; when it returns
// true the time starts again. `folder`: where the child works; empty: where we do. With `read_only`
// the child can make, change and remove no file but those that it is given, where the kernel has
// Landlock.
ProcessEnd run_watched(const std::vector<std::string>& command, std::span<const int> descriptors,
                       double limit_seconds, const std::function<bool(std::string_view)>& on_line,
                       HostFiles files = HostFiles::open, const std::string& folder = {});

}  // namespace deuteron
