// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.h"

#include <fmt/format.h>

#include <utility>

#include "base/printable.h"

namespace deuteron {

std::string format_diagnostic(const Diagnostic& d) {
  static constexpr const char* kNames[] = {"note", "warning", "error"};
  const auto line = [](const std::string& text) { return printable(text, Lines::escaped); };
  std::string text;
  if (!d.where.empty()) text += line(d.where) + ": ";
  text += fmt::format("{}: {}", kNames[static_cast<int>(d.severity)], line(d.what));
  if (!d.measured.empty()) text += fmt::format(": {}, limit {}", line(d.measured), line(d.limit));
  if (!d.rule.empty()) text += fmt::format("  [{}]", line(d.rule));
  if (!d.fix.empty()) text += "\n    " + printable(d.fix, Lines::kept);
  return text;
}

void Diagnostics::add(Diagnostic d) { list_.push_back(std::move(d)); }

void Diagnostics::error(std::string where, std::string what, std::string rule, std::string fix) {
  add({Severity::error,
       std::move(where),
       std::move(what),
       {},
       {},
       std::move(rule),
       std::move(fix)});
}

void Diagnostics::warning(std::string where, std::string what, std::string rule, std::string fix) {
  add({Severity::warning,
       std::move(where),
       std::move(what),
       {},
       {},
       std::move(rule),
       std::move(fix)});
}

}  // namespace deuteron
