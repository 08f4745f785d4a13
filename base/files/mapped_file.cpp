// SPDX-License-Identifier: Apache-2.0
#include "base/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace deuteron {

static MappedFile map_descriptor(int descriptor, const std::string& path,
                                 Diagnostics& diagnostics) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    diagnostics.error(path, "is not a regular file", "model.file.kind");
    return {};
  }
  if (info.st_size == 0) {
    diagnostics.error(path, "is empty", "model.file.empty");
    return {};
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    diagnostics.error(path, std::string("cannot be mapped into memory: ") + std::strerror(errno),
                      "model.file.map");
    return {};
  }
  std::shared_ptr<const void> owner(address,
                                    [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return {std::move(owner), {static_cast<const std::byte*>(address), size}};
}

MappedFile map_file(const std::string& path, Diagnostics& diagnostics) {
  // O_NONBLOCK: opening a pipe must not wait for its writer; it is refused below.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    diagnostics.error(path, std::string("cannot be opened: ") + std::strerror(errno),
                      "model.file.open");
    return {};
  }
  MappedFile file = map_descriptor(descriptor, path, diagnostics);
  close(descriptor);
  return file;
}

}  // namespace deuteron
