// SPDX-License-Identifier: Apache-2.0
#include "base/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace deuteron {

static bool refuse(const std::string& path, const std::string& what, const char* rule,
                   Diagnostics& diagnostics, const char* fix = "") {
  diagnostics.error(path.empty() ? "\"\"" : path, what, rule, fix);
  return false;
}

static bool check(const std::string& path, int result, const struct stat& s,
                  Diagnostics& diagnostics) {
  if (result != 0 && errno == ENOENT)
    return refuse(path, "there is no such file", "file.missing", diagnostics);
  if (result != 0)
    return refuse(path, std::string("cannot be read: ") + std::strerror(errno), "file.unreadable",
                  diagnostics);
  if (S_ISDIR(s.st_mode))
    return refuse(path, "is a folder where a file is expected", "file.folder", diagnostics);
  if (!S_ISREG(s.st_mode))
    return refuse(path, "is not a regular file", "file.kind", diagnostics,
                  "write the data to a file first");
  if (s.st_size == 0) return refuse(path, "is empty", "file.empty", diagnostics);
  return true;
}

bool check_regular_file(const std::string& path, Diagnostics& diagnostics) {
  struct stat s {};
  const int result = ::stat(path.c_str(), &s);
  return check(path, result, s, diagnostics);
}

std::optional<std::vector<std::byte>> read_file(const std::string& path, Diagnostics& diagnostics) {
  if (!check_regular_file(path, diagnostics)) return std::nullopt;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat s {};
  if (fd < 0 || ::fstat(fd, &s) != 0) {
    refuse(path, std::string("cannot be read: ") + std::strerror(errno), "file.unreadable",
           diagnostics);
    if (fd >= 0) ::close(fd);
    return std::nullopt;
  }
  std::vector<std::byte> bytes(static_cast<size_t>(s.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  const bool whole = done == bytes.size();
  const int error = errno;
  ::close(fd);
  if (whole) return bytes;
  refuse(path,
         std::string("cannot be read to its end: ") +
             (error ? std::strerror(error) : "it became shorter"),
         "file.unreadable", diagnostics);
  return std::nullopt;
}

}  // namespace deuteron
