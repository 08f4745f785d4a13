// SPDX-License-Identifier: Apache-2.0
// What tests ask of diagnostics.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

inline std::vector<std::string> rules_of(const Diagnostics& d) {
  std::vector<std::string> rules;
  for (const Diagnostic& x : d.list()) rules.push_back(x.rule);
  return rules;
}

// All of them, as they are printed.
inline std::string said(const Diagnostics& d) {
  std::string text;
  for (const Diagnostic& x : d.list()) text += format_diagnostic(x) + "\n";
  return text;
}

}  // namespace deuteron
