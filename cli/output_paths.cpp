// SPDX-License-Identifier: Apache-2.0
#include "cli/output_paths.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

namespace deuteron {
namespace {

namespace fs = std::filesystem;

// What a path stands for: the file that is there, or the name in its folder.
struct PathPlace {
  bool exists = false, folder = false, special = false;
  dev_t device = 0;
  ino_t file = 0;
  fs::path real;  // without links as far as it exists
};

PathPlace place_of(const std::string& path) {
  PathPlace p;
  struct stat s {};
  std::error_code error;
  p.exists = ::stat(path.c_str(), &s) == 0;
  p.folder = p.exists && S_ISDIR(s.st_mode);
  p.special = p.exists && !p.folder && !S_ISREG(s.st_mode);
  p.device = s.st_dev, p.file = s.st_ino;
  p.real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (!p.real.has_filename()) p.real = p.real.parent_path();  // "folder/"
  return p;
}

bool is_same(const PathPlace& a, const PathPlace& b) {
  if (a.special || b.special) return false;
  return a.exists && b.exists ? a.device == b.device && a.file == b.file : a.real == b.real;
}

bool lies_in(const PathPlace& inner, const PathPlace& folder) {
  const fs::path relative = inner.real.lexically_relative(folder.real);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

bool is_none(const std::string& path) { return path.empty() || path == "-"; }

}  // namespace

bool check_outputs(std::span<const NamedPath> inputs, std::span<const NamedPath> outputs,
                   Diagnostics& diagnostics) {
  const auto refuse = [&](const NamedPath& output, const std::string& what) {
    diagnostics.error(output.path, fmt::format("{} {}", output.option, what), "output.same_file",
                      "choose another name for the output");
    return false;
  };
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (is_none(outputs[k].path)) continue;
    const PathPlace output = place_of(outputs[k].path);
    for (const NamedPath& other : outputs.first(k))
      if (!is_none(other.path) && is_same(output, place_of(other.path)))
        return refuse(outputs[k], fmt::format("would replace what {} writes", other.option));
    for (const NamedPath& other : inputs) {
      if (is_none(other.path)) continue;
      const PathPlace input = place_of(other.path);
      if (is_same(output, input))
        return refuse(outputs[k], fmt::format("would replace {}", other.option));
      if (output.exists && !output.folder && input.folder && lies_in(output, input))
        return refuse(outputs[k], fmt::format("would replace a file of {}", other.option));
      if (output.folder && input.exists && lies_in(input, output))
        return refuse(outputs[k], fmt::format("would replace the folder of {}", other.option));
    }
  }
  return true;
}

void add_paths(std::vector<NamedPath>& to, const std::string& option,
               std::span<const std::string> paths) {
  for (const std::string& path : paths) to.push_back({option, path});
}

}  // namespace deuteron
