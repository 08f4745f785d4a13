// SPDX-License-Identifier: Apache-2.0
#include "explain/doctor/advice.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/diagnostic.h"
#include "explain/doctor/doctor.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using testing::IsEmpty;

// Rules by which the NPU may refuse an operator, but for those of the edges, which are the CPU's in
// any case.
std::set<std::string> rules_of_operators() {
  Diagnostics diagnostics;
  NpuLimits limits = find_target("imxrt700", diagnostics)->npu->limits;
  limits.matmul_multiple = 8;  // of an older SDK: with 1 its rows say nothing
  std::set<std::string> rules;
  for (const AnyExample& e : all_examples()) {
    if (is_quantize_or_dequantize(e.op)) continue;
    const std::string prefix = "neutron." + std::string(name_of(e.op)) + ".";
    if (npu_builtin(e.op).empty()) rules.insert(prefix + "builtin");
    rules.insert(prefix + "dtype");
    for (const NpuConstraint& c : npu_constraints(e.op, limits)) rules.insert(c.rule);
  }
  return rules;
}

TEST(Advice, HasARowForEveryRuleOfTheNpu) {
  std::set<std::string> rules = rules_of_operators();
  ASSERT_GT(rules.size(), 60u);
  rules.insert({"neutron.exclude", "neutron.constant", "neutron.float", "neutron.partition.cost",
                "neutron.partition.macs", "neutron.partition.empty", "neutron.partition.ports",
                "neutron.partition.small", "neutron.partition.bytes"});
  std::set<std::string> without;
  for (const std::string& rule : rules)
    if (!npu_advice_for(rule)) without.insert(rule);
  EXPECT_THAT(without, IsEmpty());
}

TEST(Advice, HasNoRowForAnUnknownRule) {
  const std::set<std::string> rules = rules_of_operators();
  std::set<std::string> unknown;
  for (const NpuAdvice& row : npu_advice()) {
    const std::string end = "." + std::string(row.limit);
    const bool of_an_operator = rules.contains("neutron." + std::string(row.subject) + end);
    const bool of_all = row.subject == "*" && std::ranges::any_of(rules, [&](const std::string& r) {
                          return r.ends_with(end);
                        });
    const bool of_none = row.limit.empty() || row.subject == "partition";  // counted above
    if (!of_an_operator && !of_all && !of_none) unknown.insert(std::string(row.subject) + end);
  }
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(Advice, SaysWhatToChange) {
  for (const NpuAdvice& row : npu_advice())
    EXPECT_FALSE(row.change.change.empty()) << row.subject << "." << row.limit;
}

TEST(Advice, OfAnOperatorGoesBeforeThatOfAll) {
  EXPECT_NE(npu_advice_for("neutron.conv2d.taps")->change,
            npu_advice_for("neutron.nothing.taps")->change);
  EXPECT_EQ(npu_advice_for("neutron.nothing.rank")->change,
            npu_advice_for("neutron.add.rank")->change);
  EXPECT_EQ(npu_advice_for("neutron.conv2d.nothing"), nullptr);
  EXPECT_EQ(npu_advice_for("conv2d.taps"), nullptr);
}

TEST(FloatAdvice, NamesKernelsOfAten) {
  EXPECT_NE(float_advice_for("topk").change, float_advice_for("nothing").change);
  EXPECT_EQ(float_advice_for("sin").change, float_advice_for("nothing").change);
}

TEST(Finding, RanksByConcernThenByCost) {
  std::vector<Finding> found;
  found.push_back(finding_of(FindingKind::large_weights, "flash", {}, 1e9, ""));
  found.push_back(finding_of(FindingKind::transposes, "cheap", {}, 1, ""));
  found.push_back(finding_of(FindingKind::crossings, "dear", {}, 2, ""));
  found.push_back(finding_of(FindingKind::float_operator, "unknown", {}, -1, ""));
  found.push_back(finding_of(FindingKind::transposes, "cheap too", {}, 1, ""));
  found.push_back(finding_of(FindingKind::too_large, "fit", {}, 0, ""));
  rank(found);
  std::vector<std::string> order;
  for (const Finding& f : found) order.push_back(f.what);
  EXPECT_THAT(order, testing::ElementsAre("fit", "dear", "cheap", "cheap too", "unknown", "flash"));
}

TEST(Finding, OfAnErrorHasWhatIsMissing) {
  const auto f = finding_of_error(
      {Severity::error, "m", "does not fit", "320", "256", "compile.max_ram", "smaller"});
  ASSERT_TRUE(f);
  EXPECT_EQ(f->cost, 64);
  EXPECT_EQ(f->concern, Concern::fit);
  EXPECT_FALSE(
      finding_of_error({Severity::error, "m", "no such file", "", "", "file.missing", ""}));
}

}  // namespace
}  // namespace deuteron
