// SPDX-License-Identifier: Apache-2.0
// Targets by name: built in, or a file of the user's own.
#include "targets/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "targets/builtin.h"
#include "targets/chips.h"
#include "targets/extend.h"
#include "targets/nearest.h"

namespace deuteron {

// cortex-m4 before cortex-m23: numbers by value, then the rest by letters.
static bool in_natural_order(const std::string& a, const std::string& b) {
  const auto digits = [](const std::string& s) {
    return std::min(s.find_first_of("0123456789"), s.size());
  };
  const auto key = [&](const std::string& s) {
    const size_t at = digits(s);
    long number = -1;
    size_t end = at;
    for (number = at < s.size() ? 0 : -1;
         end < s.size() && s[end] >= '0' && s[end] <= '9' && number < 1000000; ++end)
      number = number * 10 + (s[end] - '0');
    return std::tuple(s.substr(0, at), number, s.substr(end));
  };
  return key(a) < key(b);
}

static bool is_among(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
bool Target::has_backend(std::string_view backend) const { return is_among(backends, backend); }
bool MemoryRegion::does_hold(std::string_view what) const { return is_among(holds, what); }
bool MemoryRegion::is_planned() const {
  return !is_flash && is_reached_by("cpu") &&
         (does_hold("activations") || does_hold("scratch") || does_hold("states"));
}
bool MemoryRegion::is_reached_by(std::string_view processor) const {
  return is_among(reach, processor);
}

std::vector<std::string> builtin_bases() {
  std::vector<std::string> names;
  for (const BuiltinTarget& b : builtin_target_files())
    if (b.file.starts_with("base-")) names.emplace_back(b.file.substr(0, b.file.size() - 5));
  return names;
}

std::vector<Target> builtin_targets() {
  std::vector<Target> targets;
  for (const BuiltinTarget& b : builtin_target_files()) {
    if (b.file.starts_with("base-")) continue;
    Diagnostics diagnostics;
    std::optional<Target> t = parse_target(b.text, "targets/" + std::string(b.file), diagnostics);
    DEUTERON_CHECK(t.has_value(), format_diagnostic(diagnostics.list().front()));
    targets.push_back(std::move(*t));
  }
  std::sort(targets.begin(), targets.end(),
            [](const Target& a, const Target& b) { return in_natural_order(a.name, b.name); });
  return targets;
}

// As we write it. int8 is what every target computes in, so the suffix says nothing; `m0plus` is
// how a file or another tool writes `m0+`.
static std::string usual_spelling(std::string name) {
  for (char& c : name)
    c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name.ends_with("+int8")) name.resize(name.size() - 5);
  if (name.ends_with("plus")) name.replace(name.size() - 4, 4, "+");
  return name;
}

std::optional<Target> find_target(const std::string& name, Diagnostics& diagnostics,
                                  std::string_view option) {
  if (name.ends_with(".toml")) {
    const std::optional<std::string> text = read_target_text(name, diagnostics);
    return text ? parse_target(*text, name, diagnostics) : std::nullopt;
  }
  const std::string wanted = usual_spelling(name);
  const std::string where = fmt::format("{} {}", option, name);
  std::vector<std::string> known;
  for (Target& t : builtin_targets()) {
    // The `f` of `m4f` says that there is a unit for floats, which no kernel of ours needs.
    if (t.name == wanted || (t.name + "f" == wanted && t.isa != Isa::scalar)) return std::move(t);
    known.push_back(t.name);
  }
  if (const Chip* chip = find_chip(name))
    return parse_target(recipe_of(*chip), "boards/chips.txt", diagnostics);
  if (const std::vector<std::string> chips = chips_called(name); !chips.empty()) {
    diagnostics.error(where, "begins the names of several chips", "target.chips",
                      fmt::format("chips: {}", fmt::join(chips, ", ")));
    return std::nullopt;
  }
  if (is_among(builtin_bases(), name)) {
    diagnostics.error(where, "is a base for other files to extend, not a target", "target.base",
                      fmt::format("targets: {}", fmt::join(known, ", ")));
    return std::nullopt;
  }
  if (wanted == "cortex-m") {
    std::erase_if(known, [](const std::string& n) { return !n.starts_with("cortex-m"); });
    diagnostics.error(
        where, "is a family of cores with different instruction sets: name one of them",
        "target.family",
        fmt::format("cores: {}; an i.MX RT700 with its NPU: imxrt700cm", fmt::join(known, ", ")));
    return std::nullopt;
  }
  diagnostics.error(where, "there is no target of this name", "target.unknown",
                    target_suggestion(wanted, known) +
                        " Of a chip that `deuteron targets --chips` does not list, name the core.");
  return std::nullopt;
}

}  // namespace deuteron
