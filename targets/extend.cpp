// SPDX-License-Identifier: Apache-2.0
#include "targets/extend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "targets/builtin.h"
#include "targets/nearest.h"

namespace deuteron {
namespace {

constexpr int64_t kFormat = 1;  // of the target file itself
constexpr uintmax_t kMaxFileBytes = 1 << 20;
// that one target takes from, itself included; built-in ones take from one or two
constexpr size_t kMostFiles = 64;
constexpr std::array<std::string_view, 5> kOwnKeys = {"format", "base", "name", "description",
                                                      "extends"};

void take_over(toml::table& own, toml::table& base, bool is_root) {
  for (auto&& [key, node] : base) {
    if (is_root && std::find(kOwnKeys.begin(), kOwnKeys.end(), key.str()) != kOwnKeys.end())
      continue;
    toml::node* mine = own.get(key.str());
    if (!mine) {
      // Moved, not copied: a copy forgets where it was written.
      const std::string name(key.str());
      node.visit([&](auto& n) { own.insert_or_assign(name, std::move(n)); });
    } else if (mine->as_table() && node.as_table()) {
      take_over(*mine->as_table(), *node.as_table(), false);
    }
  }
}

// Reads each file once: what is taken over never replaces what is there, so a base that was taken
// before would add nothing.
class Resolver {
 public:
  explicit Resolver(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::optional<toml::table> read(std::string_view text, const std::string& file) {
    std::optional<toml::table> root = parse(text, file);
    if (!root || !has_this_format(*root, file)) return std::nullopt;
    reading_.push_back(file);
    taken_.push_back(file);
    const bool done = take_from_bases(*root, file);
    reading_.pop_back();
    return done ? std::move(root) : std::nullopt;
  }
  std::vector<std::string> bases;

 private:
  static std::string at(const toml::node& node, const std::string& file) {
    const auto line = node.source().begin.line;
    return line > 0 ? fmt::format("{}:{}", file, line) : file;
  }

  std::optional<toml::table> parse(std::string_view text, const std::string& file) {
    try {
      return toml::parse(text, std::string_view(file));
    } catch (const toml::parse_error& e) {
      const std::string what(e.description());
      diagnostics_.error(fmt::format("{}:{}", file, e.source().begin.line), "is not TOML: " + what,
                         "target.toml");
      return std::nullopt;
    }
  }

  // The version comes first: the other rules are those of this version only.
  bool has_this_format(const toml::table& root, const std::string& file) {
    const toml::node* format = root.get("format");
    if (!format)
      return diagnostics_.error(at(root, file), "`format` is missing", "target.missing_field",
                                fmt::format("add `format = {}`", kFormat)),
             false;
    if (!format->as_integer())
      return diagnostics_.error(at(*format, file), "`format` must be a whole number",
                                "target.type"),
             false;
    if (const int64_t version = format->as_integer()->get(); version != kFormat) {
      diagnostics_.add(
          {Severity::error, at(*format, file), "the target file is of another format version",
           std::to_string(version), std::to_string(kFormat), "target.format",
           "write the file for this version; `deuteron targets --show cortex-m55` prints one"});
      return false;
    }
    return true;
  }

  bool take_from_bases(toml::table& root, const std::string& file) {
    const toml::node* node = root.get("extends");
    if (!node) return true;
    const toml::array* list = node->as_array();
    const bool is_list = list && std::all_of(list->begin(), list->end(),
                                             [](const toml::node& n) { return n.is_string(); });
    if (!is_list)
      return diagnostics_.error(at(*node, file), "`extends` must be a list of strings",
                                "target.type"),
             false;
    // The last named wins, so it comes first.
    for (size_t k = list->size(); k-- > 0;) {
      const toml::node& item = *list->get(k);
      const std::string name = item.as_string()->get();
      const std::optional<Base> found = base_called(name, file, at(item, file));
      if (!found) return false;
      if (std::find(reading_.begin(), reading_.end(), found->path) != reading_.end())
        return diagnostics_.error(at(item, file),
                                  fmt::format("`{}` extends itself: {} -> {}", name,
                                              fmt::join(reading_, " -> "), found->path),
                                  "target.extends"),
               false;
      if (std::find(taken_.begin(), taken_.end(), found->path) != taken_.end()) continue;
      if (taken_.size() == kMostFiles) return too_many_files(at(item, file));
      const std::optional<std::string> text = found->builtin
                                                  ? std::string(found->builtin->text)
                                                  : read_target_text(found->path, diagnostics_);
      if (!text) return false;
      bases.push_back(name);
      std::optional<toml::table> base = read(*text, found->path);
      if (!base) return false;
      take_over(root, *base, true);
    }
    return true;
  }

  bool too_many_files(std::string where) {
    diagnostics_.add({Severity::error, std::move(where), "the target takes from too many files",
                      std::to_string(kMostFiles + 1), std::to_string(kMostFiles), "target.extends",
                      "write what they say into fewer files"});
    return false;
  }

  // A base and how messages call it.
  struct Base {
    std::string path;
    const BuiltinTarget* builtin = nullptr;
  };
  std::optional<Base> base_called(const std::string& name, const std::string& file,
                                  const std::string& where) {
    if (name.ends_with(".toml"))
      return Base{(std::filesystem::path(file).parent_path() / name).lexically_normal().native()};
    std::vector<std::string> known;
    for (const BuiltinTarget& b : builtin_target_files()) {
      known.emplace_back(b.file.substr(0, b.file.size() - 5));
      if (known.back() == name) return Base{"targets/" + std::string(b.file), &b};
    }
    diagnostics_.error(where, fmt::format("there is no target or base `{}` to extend", name),
                       "target.unknown_name", target_suggestion(name, known));
    return std::nullopt;
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> reading_;  // from the target to the file that is being read
  std::vector<std::string> taken_;    // all that have been read
};

}  // namespace

std::optional<Extended> read_extended(std::string_view toml, const std::string& file,
                                      Diagnostics& diagnostics) {
  Resolver resolver(diagnostics);
  std::optional<toml::table> root = resolver.read(toml, file);
  if (!root) return std::nullopt;
  return Extended{std::move(*root), std::move(resolver.bases)};
}

std::optional<std::string> read_target_text(const std::string& path, Diagnostics& diagnostics) {
  std::error_code ec;
  const std::filesystem::file_status status = std::filesystem::status(path, ec);
  const char* what = !std::filesystem::exists(status)            ? "there is no such target file"
                     : std::filesystem::is_directory(status)     ? "is a folder, not a target file"
                     : !std::filesystem::is_regular_file(status) ? "is not a regular file"
                                                                 : nullptr;
  if (what)
    return diagnostics.error(path, what, "target.file",
                             "name a target (`deuteron targets` lists them) or a `.toml` file"),
           std::nullopt;
  if (const uintmax_t bytes = std::filesystem::file_size(path, ec); !ec && bytes > kMaxFileBytes)
    return diagnostics.add({Severity::error, path, "is too large for a target file",
                            fmt::format("{} bytes", bytes), fmt::format("{} bytes", kMaxFileBytes),
                            "target.file", ""}),
           std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream)
    return diagnostics.error(path, fmt::format("cannot be read: {}", std::strerror(errno)),
                             "target.file"),
           std::nullopt;
  return text;
}

}  // namespace deuteron
