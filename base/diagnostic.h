// SPDX-License-Identifier: Apache-2.0
// What the user is told: collected, never thrown. Every message says what was found, where, what is
// allowed and what to do.
#pragma once
#include <string>
#include <vector>

namespace deuteron {

enum class Severity { note, warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string where;     // "net.pt2: conv2d `backbone.7.conv` (source op 41)", "x.npy", ...
  std::string what;      // one sentence without a full stop: what was found
  std::string measured;  // with `limit`: both or none
  std::string limit;
  std::string rule;  // stable id in lower case: "pt2.archive.truncated"
  std::string fix;   // what the user can do; may be empty
};

// "where: error: what: measured, limit limit  [rule]\n    fix"
std::string format_diagnostic(const Diagnostic&);

class Diagnostics {
 public:
  void add(Diagnostic d);
  void error(std::string where, std::string what, std::string rule, std::string fix = {});
  void warning(std::string where, std::string what, std::string rule, std::string fix = {});
  bool has_errors() const {
    for (const Diagnostic& d : list_)
      if (d.severity == Severity::error) return true;
    return false;
  }
  const std::vector<Diagnostic>& list() const { return list_; }

 private:
  std::vector<Diagnostic> list_;
};

}  // namespace deuteron
