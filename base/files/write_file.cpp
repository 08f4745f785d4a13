// SPDX-License-Identifier: Apache-2.0
#include "base/files/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/files/temporary_path.h"

namespace deuteron {
namespace {

// What the user can do about it.
std::string remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there or name another place";
    case EFBIG:
      return "raise the limit on the size of files (`ulimit -f`), or name another place";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a place that you may write to";
    case ENOENT:
      return "make the folder first";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case EISDIR:
      return "name a file, not a folder";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "";
  }
}

bool fail(const std::string& path, const char* what, int error, Diagnostics& diagnostics) {
  diagnostics.error(path, fmt::format("{}: {}", what, std::strerror(error)), "write.file",
                    remedy(error));
  return false;
}

// All bytes, or the error.
int write_all(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;  // a device that takes nothing and says nothing
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

// Devices, pipes (/dev/stdout, /dev/full) and files without a name cannot be replaced by renaming:
// written as they are.
bool write_in_place(const std::string& path, std::span<const uint8_t> bytes,
                    Diagnostics& diagnostics) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  if (file < 0) return fail(path, "cannot be opened for writing", errno, diagnostics);
  int error = write_all(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  return error == 0 || fail(path, "cannot be written", error, diagnostics);
}

// The file that a link points to is replaced, not the link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real) return path;
  std::string result = real;
  std::free(real);
  return result;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The bytes on their way: a file without a name where the system has them (then an interrupt leaves
// nothing behind), else one beside the target.
struct Temporary {
  std::string target;
  std::string path;  // empty: without a name
  int file = -1;
  int tries = 0;
  std::optional<TemporaryPath> listed;  // as long as there is a path

  explicit Temporary(std::string path_of_target) : target(std::move(path_of_target)) {}
  ~Temporary() {
    if (file >= 0) ::close(file);
    remove();
  }
  Temporary(const Temporary&) = delete;

  int open() {
#ifdef O_TMPFILE
    const bool can_be_named = ::access("/proc/self/fd", X_OK) == 0;
    if (can_be_named)
      file = ::open(folder_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) return 0;
#endif
    return try_names([&](const char* name) {
      return (file = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0;
    });
  }
  int give_name() {
    if (!path.empty()) return 0;
    const std::string self = fmt::format("/proc/self/fd/{}", file);
    return try_names([&](const char* name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
  }
  void remove() {
    if (!path.empty()) ::unlink(path.c_str());
    listed.reset();
  }
  bool close() {  // some file systems report a full disk only here
    const int closing = file;
    file = -1;
    return ::close(closing) == 0;
  }

 private:
  // Names beside the target that other runs do not choose: `make` fails with EEXIST if one did.
  int try_names(auto make) {
    constexpr int kTries = 100;
    while (tries < kTries) {
      const std::string name =
          fmt::format("{}/.deuteron.{}.{}.tmp", folder_of(target), ::getpid(), tries++);
      listed.emplace(name);
      if (make(name.c_str())) return path = name, 0;
      const int error = errno;
      listed.reset();
      if (error != EEXIST) return error;
    }
    return EEXIST;
  }
};

// The entry itself reaches the disk with its folder. Not every file system can; the file is whole
// either way.
void sync_folder_of(const std::string& path) {
  const int file = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

// Where a file is to be: what is there already, and whether that is written as it is.
struct Place {
  bool exists = false, in_place = false;
  mode_t mode = 0;
};
std::optional<Place> place_of(const std::string& path, Diagnostics& diagnostics) {
  const auto refuse = [&](int error) {
    fail(path, "cannot be written", error, diagnostics);
    return std::nullopt;
  };
  if (path.empty()) return fail("output", "has an empty name", ENOENT, diagnostics), std::nullopt;
  struct stat existing;
  Place place;
  place.exists = ::stat(path.c_str(), &existing) == 0;
  if (!place.exists && path.back() == '/') return refuse(EISDIR);
  if (!place.exists) return place;
  if (S_ISDIR(existing.st_mode)) return refuse(EISDIR);
  // nameless: /dev/fd/3 of a file in memory, or of one that was removed
  place.in_place = !S_ISREG(existing.st_mode) || existing.st_nlink == 0;
  place.mode = existing.st_mode & 07777;
  if (!place.in_place && ::access(path.c_str(), W_OK) != 0) return refuse(errno);
  return place;
}

}  // namespace

bool may_write(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<Place> place = place_of(path, diagnostics);
  if (!place || place->in_place) return place.has_value();
  Temporary temporary(place->exists ? resolved(path) : path);
  const int error = temporary.open();
  return error == 0 || fail(path, "cannot be created", error, diagnostics);
}

bool write_file(const std::string& path, std::span<const uint8_t> bytes, Diagnostics& diagnostics) {
  const std::optional<Place> place = place_of(path, diagnostics);
  if (!place) return false;
  if (place->in_place) return write_in_place(path, bytes, diagnostics);
  // gone again however this function ends, unless it was renamed
  Temporary temporary(place->exists ? resolved(path) : path);
  if (const int error = temporary.open())
    return fail(path, "cannot be created", error, diagnostics);
  if (place->exists) ::fchmod(temporary.file, place->mode);
  if (const int error = write_all(temporary.file, bytes))
    return fail(path, "cannot be written", error, diagnostics);
  if (::fsync(temporary.file) != 0 && errno != EINVAL && errno != ENOSYS)
    return fail(path, "cannot be written", errno, diagnostics);
  if (const int error = temporary.give_name())
    return fail(path, "cannot be created", error, diagnostics);
  if (!temporary.close()) return fail(path, "cannot be written", errno, diagnostics);
  if (::rename(temporary.path.c_str(), temporary.target.c_str()) != 0)
    return fail(path, "cannot be written", errno, diagnostics);
  temporary.path.clear();
  sync_folder_of(temporary.target);
  return true;
}

}  // namespace deuteron
