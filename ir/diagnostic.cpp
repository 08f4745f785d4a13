#include "ir/diagnostic.h"

#include <fmt/format.h>

namespace deuteron {

std::string format_diagnostic(const Diagnostic& d) {
  static constexpr const char* kNames[] = {"note", "warning", "error"};
  std::string text;
  if (!d.where.empty()) text += d.where + ": ";
  text += fmt::format("{}: {}", kNames[static_cast<int>(d.severity)], d.what);
  if (!d.measured.empty()) text += fmt::format(": {}, limit {}", d.measured, d.limit);
  if (!d.rule.empty()) text += fmt::format("  [{}]", d.rule);
  if (!d.fix.empty()) text += "\n    " + d.fix;
  return text;
}

}  // namespace deuteron
