// SPDX-License-Identifier: Apache-2.0
// A folder of files, whole or not at all: made beside its place under a temporary name, then
// renamed.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/read_file.h"
#include "base/files/temporary_path.h"
#include "base/files/write_file.h"
#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)), listed_(path_.native()) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  TemporaryPath listed_;
};

bool is_project(const fs::path& folder) {
  std::error_code ec;
  const fs::path list = folder / kSelectionFile;
  if (!fs::is_regular_file(list, ec) || fs::file_size(list, ec) == 0) return false;
  Diagnostics ignored;
  const std::optional<std::vector<std::byte>> bytes = read_file(list.native(), ignored);
  return bytes && is_kernel_list({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

// Whether something new may stand there.
bool may_replace(const fs::path& folder, bool force, Diagnostics& diagnostics) {
  std::error_code ec;
  const fs::file_status status = fs::status(folder, ec);
  if (!fs::exists(status)) return true;
  const std::string where = folder.native();
  if (!fs::is_directory(status))
    return diagnostics.error(where, "is a file where the folder of the project shall stand",
                             "firmware.folder"),
           false;
  if (fs::is_empty(folder, ec) && !ec) return true;
  if (ec)
    return diagnostics.error(where, "cannot be read: " + ec.message(), "firmware.folder"), false;
  if (!is_project(folder))
    return diagnostics.error(where, "is not empty, and no project of `deuteron firmware`",
                             "firmware.folder", "name another folder"),
           false;
  if (force) return true;
  diagnostics.error(where, "is a project already", "firmware.folder",
                    "--force replaces it, with what was changed or built there");
  return false;
}

bool write_all(const fs::path& folder, const std::map<std::string, std::string>& files,
               Diagnostics& diagnostics) {
  for (const auto& [name, content] : files) {
    const fs::path path = folder / name;
    std::error_code ec;
    fs::create_directories(path.parent_path(), ec);
    if (ec)
      return diagnostics.error(path.parent_path().native(), "cannot be made: " + ec.message(),
                               "firmware.folder"),
             false;
    if (!write_file(path.native(),
                    {reinterpret_cast<const uint8_t*>(content.data()), content.size()},
                    diagnostics))
      return false;
  }
  return true;
}

}  // namespace

bool write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force, Diagnostics& diagnostics) {
  fs::path target = fs::path(folder);
  if (!target.has_filename()) target = target.parent_path();  // "fw/"
  if (target.empty())
    return diagnostics.error(folder, "is not the name of a folder", "firmware.folder"), false;
  if (!may_replace(target, force, diagnostics)) return false;
  std::error_code ec;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), ec);
  if (ec)
    return diagnostics.error(target.parent_path().native(), "cannot be made: " + ec.message(),
                             "firmware.folder"),
           false;
  const std::string beside = fmt::format("{}.{}.tmp", target.native(), ::getpid());
  const TemporaryFolder made(beside), old(beside + ".old");
  if (!write_all(made.path(), files, diagnostics)) return false;
  const auto held = hold_temporary_paths();  // the old folder must not go before the new one stands
  const bool existed = fs::exists(target, ec);
  if (existed) fs::rename(target, old.path(), ec);
  if (!ec) fs::rename(made.path(), target, ec);
  if (!ec) return true;
  diagnostics.error(target.native(), "cannot be put in place: " + ec.message(), "firmware.folder");
  std::error_code ignored;
  if (existed && !fs::exists(target, ignored)) fs::rename(old.path(), target, ignored);
  return false;
}

}  // namespace deuteron
