// SPDX-License-Identifier: Apache-2.0
#include "explain/doctor/finding.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace deuteron {
namespace {

struct KindTexts {
  std::string_view name;
  Concern concern;
  std::string_view attempt, why, change, code;
};
constexpr KindTexts kKinds[] = {
#define KIND(name, concern, attempt, why, change, code) \
  {#name, Concern::concern, attempt, why, change, code},
#include "explain/doctor/kinds.inc"
#undef KIND
};

struct ConcernNames {
  std::string_view name, unit;
};
constexpr ConcernNames kConcerns[] = {{"fit", "bytes"},   {"answers", "dB"}, {"time", "cycles"},
                                      {"accuracy", "dB"}, {"RAM", "bytes"},  {"flash", "bytes"}};

}  // namespace

std::string_view name_of(Concern c) { return kConcerns[static_cast<size_t>(c)].name; }
std::string_view unit_of(Concern c) { return kConcerns[static_cast<size_t>(c)].unit; }

Finding finding_of(FindingKind kind, std::string what, std::vector<FindingPlace> where, double cost,
                   std::string cost_text) {
  const KindTexts& t = kKinds[static_cast<size_t>(kind)];
  return {.kind = kind,
          .concern = t.concern,
          .rule = "doctor." + std::string(t.name),
          .what = std::move(what),
          .where = std::move(where),
          .cost = cost,
          .cost_text = std::move(cost_text),
          .why = std::string(t.why),
          .change = std::string(t.change),
          .code = std::string(t.code),
          .attempt = std::string(t.attempt)};
}

void rank(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    // A cost that is not known is -1, which comes last of its concern.
    return std::tuple(a.concern, -a.cost) < std::tuple(b.concern, -b.cost);
  });
}

}  // namespace deuteron
