// SPDX-License-Identifier: Apache-2.0
// Target files. A line `#file NAME` begins another one, which the first may extend. A few bytes
// without a line are the name of a target. What is taken can be shown, and reads back to what shows
// the same.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "targets/show_target.h"
#include "targets/target.h"
#include "tests/fuzz/scratch_folder.h"

using namespace deuteron;

// Without the comments above it, which say where the target comes from.
static std::string shown(const Target& target) {
  const std::string text = target_as_toml(target, {"fuse"});
  return text.substr(text.find("\nformat = "));
}

static void check(const std::optional<Target>& target, const Diagnostics& diagnostics) {
  DEUTERON_CHECK(target.has_value() != diagnostics.has_errors());
  if (!target) return;
  (void)target_as_json(*target, {"fuse"});
  Diagnostics refused;
  const std::optional<Target> again =
      parse_target(target_as_toml(*target, {"fuse"}), "shown.toml", refused);
  DEUTERON_CHECK(again && shown(*again) == shown(*target), shown(*target));
}

static bool is_plain_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  };
  return !name.empty() && name.size() < 40 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), is_plain);
}

static void read_files(const std::string& text) {
  constexpr std::string_view kMark = "\n#file ";
  const test::ScratchFolder folder;
  std::string name = "first.toml";
  for (size_t at = 0; at != text.npos;) {
    const size_t next = text.find(kMark, at), begin = std::min(next, text.size());
    if (is_plain_name(name)) folder.add(name, std::string_view(text).substr(at, begin - at));
    if (next == text.npos) break;
    const size_t from = next + kMark.size();
    at = text.find('\n', from);
    name = text.substr(from, at - from);
  }
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(folder.path() + "/first.toml", diagnostics);
  check(target, diagnostics);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("\n#file ") != text.npos) return read_files(text), 0;
  Diagnostics diagnostics;
  const bool is_name = size < 24 && text.find('\n') == text.npos && !text.ends_with(".toml");
  const std::optional<Target> target =
      is_name ? find_target(text, diagnostics) : parse_target(text, "fuzz.toml", diagnostics);
  check(target, diagnostics);
  return 0;
}
