// SPDX-License-Identifier: Apache-2.0
// A folder of files for readers that look at names: in memory where there is /dev/shm, made anew
// for each input.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace deuteron::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    static const bool is_memory = std::filesystem::is_directory("/dev/shm");
    path_ = (is_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) +
            "/deuteron_fuzz.XXXXXX";
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string add(const std::string& name, std::string_view bytes) const {
    std::string file = path_ + "/" + name;
    if (!std::ofstream(file, std::ios::binary)
             .write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      std::abort();
    return file;
  }

 private:
  std::string path_;
};

}  // namespace deuteron::test
