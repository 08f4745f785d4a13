// SPDX-License-Identifier: Apache-2.0
// See watched_process.h.
#include "boards/watched_process.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>

#include "base/watch.h"

namespace deuteron {
namespace {

constexpr int kFirstDescriptor = 3;  // of the child
constexpr int kOutOfTheWay = 64;     // ours are moved above those of the child
constexpr size_t kLongestLine = 4096;

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    read = fcntl(ends[0], F_DUPFD_CLOEXEC, kOutOfTheWay);
    write = fcntl(ends[1], F_DUPFD_CLOEXEC, kOutOfTheWay);
    close(ends[0]);
    close(ends[1]);
  }
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  void close_write() {
    close(write);
    write = -1;
  }
  bool ok() const { return read >= 0 && write >= 0; }
};

// For this process and what it becomes. Files in memory that it is given lie in no folder: Landlock
// does not see them.
void forbid_changing_files() {
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                            LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                            LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  const long ruleset = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) return;  // a kernel without it
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    (void)!syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(static_cast<int>(ruleset));
}

static std::atomic<uint64_t> data_of_children = 0;  // 0: ours

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, std::span<const int> descriptors, int text,
                         int failed, pid_t parent, HostFiles files, const char* folder) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  bool good = nothing >= 0 && dup2(nothing, 0) == 0 && dup2(text, 1) == 1 && dup2(text, 2) == 2;
  for (size_t i = 0; i < descriptors.size(); i++) {
    const int to = kFirstDescriptor + static_cast<int>(i);
    good = good && dup2(descriptors[i], to) == to;
  }
  good = good && (!*folder || chdir(folder) == 0);
  if (files == HostFiles::read_only) forbid_changing_files();
  rlimit data{};
  if (data_of_children != 0 && getrlimit(RLIMIT_DATA, &data) == 0)
    data.rlim_cur = data_of_children, setrlimit(RLIMIT_DATA, &data);
  if (good) execvp(arguments[0], arguments);
  const int error = errno;
  (void)!write(failed, &error, sizeof error);
  _exit(127);
}

// Splits what arrives into lines. A line that is too long is cut.
class Lines {
 public:
  explicit Lines(const std::function<bool(std::string_view)>& on_line) : on_line_(on_line) {}
  bool add(std::string_view text) {
    bool again = false;
    for (char c : text) {
      if (c == '\n') again |= end();
      else if (line_.size() < kLongestLine) line_ += c;
    }
    return again;
  }
  bool end() {
    const bool again = !line_.empty() && on_line_(line_);
    line_.clear();
    return again;
  }

 private:
  const std::function<bool(std::string_view)>& on_line_;
  std::string line_;
};

// Waits for the end until `deadline`. True: it has ended, `status` is set.
bool wait_until(pid_t child, Clock::time_point deadline, int* status) {
  for (;;) {
    const pid_t r = waitpid(child, status, WNOHANG);
    if (r == child) return true;
    if (r < 0 &&
        errno !=
            EINTR) {  // somebody else has waited for it: all that can be said is that it is gone
      *status = 0;
      return true;
    }
    if (Clock::now() >= deadline) return false;
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

MemoryFile::MemoryFile(const char* label) {
  const int d = memfd_create(label, MFD_CLOEXEC);
  if (d < 0) return;
  descriptor_ = fcntl(d, F_DUPFD_CLOEXEC, kOutOfTheWay);
  close(d);
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool MemoryFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

std::vector<uint8_t> MemoryFile::content() const {
  struct stat s;
  if (fstat(descriptor_, &s) != 0) return {};
  std::vector<uint8_t> bytes(static_cast<size_t>(s.st_size));
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n =
        pread(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  bytes.resize(at);
  return bytes;
}

void limit_data_of_children(uint64_t bytes) { data_of_children = bytes; }

ProcessEnd run_watched(const std::vector<std::string>& command, std::span<const int> descriptors,
                       double limit_seconds, const std::function<bool(std::string_view)>& on_line,
                       HostFiles files, const std::string& folder) {
  ProcessEnd end;
  Pipe text, failed;
  if (!text.ok() || !failed.ok()) {
    end.start_error = errno;
    return end;
  }
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    end.start_error = errno;
    return end;
  }
  if (child == 0)
    become(arguments.data(), descriptors, text.write, failed.write, parent, files, folder.c_str());
  setpgid(child, child);  // both sides do it: whoever is first
  text.close_write();
  failed.close_write();

  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(limit_seconds, 0.01, 1e7)));
  Clock::time_point deadline = Clock::now() + limit;
  Lines lines(on_line);
  const Watch* const watch = watch_of_thread();
  const auto is_stopped = [&] { return watch && watch->stop.load(); };
  bool open = true;
  while (open && !is_stopped()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) break;
    pollfd p{text.read, POLLIN, 0};
    const int ready = poll(&p, 1, static_cast<int>(std::min<long long>(left, watch ? 100 : 1000)));
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t n = read(text.read, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    open = n > 0;
    if (open && lines.add({buffer, static_cast<size_t>(n)})) deadline = Clock::now() + limit;
  }
  lines.end();

  int status = 0;
  if (!wait_until(child, is_stopped() ? Clock::now() : deadline, &status)) {
    end.timed_out = true;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  }
  stop_if_asked(watch);
  int error = 0;
  if (read(failed.read, &error, sizeof error) == sizeof error) end.start_error = error;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

}  // namespace deuteron
