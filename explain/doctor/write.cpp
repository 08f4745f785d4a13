// SPDX-License-Identifier: Apache-2.0
#include "explain/doctor/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostPlaces = 3;  // as text; JSON has all

const Attempt* attempt_of(const std::vector<Attempt>& attempts, const std::string& option) {
  const auto at = std::ranges::find(attempts, option, &Attempt::option);
  return option.empty() || at == attempts.end() ? nullptr : &*at;
}

std::string place_text(const FindingPlace& p) {
  return p.name + (p.operators.empty() ? "" : ": " + p.operators) +
         (p.line.empty() ? "" : ", " + p.line);
}

class Text {
 public:
  void line(std::string_view label, const std::string& what) {
    if (!what.empty()) text += fmt::format("     {:<9}{}\n", label, what);
  }

  void finding(size_t number, const Finding& f, const std::vector<Attempt>& attempts) {
    text += fmt::format("{:>3}  {:<9}{}  [{}]\n", number, name_of(f.concern), f.what, f.rule);
    for (size_t k = 0; k < std::min(kMostPlaces, f.where.size()); ++k)
      line(k == 0 ? "where" : "", place_text(f.where[k]));
    if (f.where.size() > kMostPlaces)
      line("", fmt::format("and {} more", f.where.size() - kMostPlaces));
    line("costs", f.cost_text);
    line("why", f.why);
    const bool is_told = !f.attempt.empty() && std::ranges::find(told, f.attempt) != told.end();
    if (is_told && f.change.starts_with("compile with " + f.attempt))
      return line("change", f.attempt + ", as above");
    line("change", f.change);
    line("", f.code);
    if (is_told) return;
    told.push_back(f.attempt);
    if (const Attempt* a = attempt_of(attempts, f.attempt))
      line("tried", fmt::format("{}: {}", a->option, a->result));
  }

  std::string text;
  std::vector<std::string> told;  // options that a finding has named
};

}  // namespace

std::string findings_text(const std::vector<Finding>& findings,
                          const std::vector<Attempt>& attempts) {
  Text t;
  for (size_t k = 0; k < findings.size(); ++k) t.finding(k + 1, findings[k], attempts);
  if (findings.empty()) t.text += "  found       nothing that is worth a change\n";
  for (const Attempt& a : attempts)
    if (std::ranges::find(findings, a.option, &Finding::attempt) == findings.end())
      t.text += fmt::format("  tried       {}: {}\n", a.option, a.result);
  return t.text;
}

Json findings_json(const std::vector<Finding>& findings, const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Finding& f : findings) {
    Json where = Json::array();
    for (const FindingPlace& p : f.where)
      where.push_back({{"name", p.name}, {"operators", p.operators}, {"line", p.line}});
    list.push_back({{"concern", name_of(f.concern)},
                    {"rule", f.rule},
                    {"what", f.what},
                    {"where", std::move(where)},
                    {"cost", f.cost < 0 ? Json(nullptr) : Json(f.cost)},
                    {"unit", unit_of(f.concern)},
                    {"cost_text", f.cost_text},
                    {"why", f.why},
                    {"change", f.change},
                    {"code", f.code}});
    if (const Attempt* a = attempt_of(attempts, f.attempt))
      list.back()["tried"] = {{"option", a->option}, {"result", a->result}};
  }
  Json tried = Json::array();
  for (const Attempt& a : attempts)
    tried.push_back({{"option", a.option}, {"result", a.result}, {"has_program", a.has_program}});
  return {{"findings", std::move(list)}, {"tried", std::move(tried)}};
}

}  // namespace deuteron
