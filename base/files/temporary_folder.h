// SPDX-License-Identifier: Apache-2.0
// A folder of our own, in the system's folder for such; gone with everything in it at the end of
// the scope, or when the process is told to end.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/files/temporary_path.h"

namespace deuteron {

class TemporaryFolder {
 public:
  // Its name begins with "deuteron-" and `kind`.
  explicit TemporaryFolder(const std::string& kind) : listed_([&] { return make(kind); }) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (ok()) std::filesystem::remove_all(listed_.path(), ignored);
  }
  bool ok() const { return !listed_.path().empty(); }  // false: it could not be made
  const std::string& path() const { return listed_.path(); }
  std::filesystem::path operator/(const char* name) const {
    return std::filesystem::path(path()) / name;
  }

 private:
  static std::string make(const std::string& kind) {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / ("deuteron-" + kind + "-XXXXXX")).string();
    return !error && mkdtemp(pattern.data()) ? pattern : "";
  }
  TemporaryPath listed_;
};

}  // namespace deuteron
