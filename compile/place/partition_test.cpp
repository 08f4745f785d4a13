// SPDX-License-Identifier: Apache-2.0
// Which nodes go to the NPU together: as many as can, never in a circle, and nothing that does not
// pay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "compile/place/npu_support.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr const char* kQ = "q(scale=0.05 zero=3)";

struct Partitioned {
  Graph graph;
  Compilation result;
  Diagnostics diagnostics;
};

// `lines` after an input `x` of [1,8,8,16]; "@" stands for the usual parameters.
Partitioned partitioned(std::string lines, NpuOptions npu = {}) {
  std::string text = "input x : s8[1,8,8,16] @\n" + lines;
  for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, kQ);
  Partitioned p;
  std::optional<Graph> g = parse(text, "test", p.diagnostics);
  EXPECT_TRUE(g) << (p.diagnostics.list().empty() ? ""
                                                  : format_diagnostic(p.diagnostics.list()[0]));
  if (!g) return p;
  p.graph = std::move(*g);
  const Target target = *find_target("imxrt700cm", p.diagnostics);
  const Samples samples;
  CompileOptions options;
  options.npu = std::move(npu);
  i64 budget = 1000;
  PassContext context{p.graph, target, samples, options, p.result, p.diagnostics, &budget};
  run_passes(context, "partition", "partition");
  return p;
}

std::vector<const Delegate*> delegates_of(const Graph& g) {
  std::vector<const Delegate*> list;
  for (const Node& node : g.nodes)
    if (const auto* d = std::get_if<Delegate>(&node.op)) list.push_back(d);
  return list;
}
size_t cpu_nodes(const Graph& g) { return g.nodes.size() - delegates_of(g).size(); }

TEST(Partition, AllOfItIsOnePart) {
  const Partitioned p = partitioned(
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b = max_pool2d(a) kernel=2,2 stride=2,2 : s8[1,4,4,16] @\n"
      "output b\n");
  ASSERT_EQ(delegates_of(p.graph).size(), 1u);
  EXPECT_EQ(p.graph.nodes.size(), 1u);
  EXPECT_EQ(delegates_of(p.graph)[0]->body->nodes.size(), 2u);
  EXPECT_THAT(p.result.partition.kept_on_cpu, testing::IsEmpty());
}

TEST(Partition, AnOperatorThatStaysDividesIt) {
  const Partitioned p = partitioned(
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b = unary(a) fn=gelu : s8[1,8,8,16] @\n"
      "c = clamp(b) bounds=0,6 : s8[1,8,8,16] @\n"
      "output c\n");
  EXPECT_EQ(delegates_of(p.graph).size(), 2u);
  EXPECT_EQ(cpu_nodes(p.graph), 1u);
  ASSERT_EQ(p.result.partition.kept_on_cpu.size(), 1u);
  EXPECT_EQ(p.result.partition.kept_on_cpu[0].why.rule, "neutron.unary.function");
}

// x -> a -> (gelu) -> sum, and a -> c -> sum: with c in the first part and the sum in a second
// there is no circle.
TEST(Partition, ADiamondWithABranchThatStaysHasNoCircle) {
  const Partitioned p = partitioned(
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b = unary(a) fn=gelu : s8[1,8,8,16] @\n"
      "c = clamp(a) bounds=0,1 : s8[1,8,8,16] @\n"
      "d = add(b, c) : s8[1,8,8,16] @\n"
      "output d\n");
  const auto parts = delegates_of(p.graph);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0]->body->nodes.size(), 2u);  // a and c
  EXPECT_EQ(parts[0]->body->outputs.size(), 2u);
  EXPECT_EQ(parts[1]->body->nodes.size(), 1u);
  EXPECT_EQ(parts[1]->body->inputs.size(), 2u);
}

TEST(Partition, BranchesWithoutAConnectionAreOnePart) {
  const Partitioned p = partitioned(
      "input z : s8[1,3,5,8] @\n"
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b = clamp(z) bounds=0,6 : s8[1,3,5,8] @\n"
      "output a\noutput b\n");
  ASSERT_EQ(delegates_of(p.graph).size(), 1u);
  EXPECT_EQ(delegates_of(p.graph)[0]->body->inputs.size(), 2u);
  EXPECT_EQ(delegates_of(p.graph)[0]->body->outputs.size(), 2u);
}

// Fewest parts: two branches of which each has an operator that stays at another place.
TEST(Partition, AsFewPartsAsThePathWithMostChangesNeeds) {
  const Partitioned p = partitioned(
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b1 = unary(a) fn=gelu : s8[1,8,8,16] @\n"
      "b2 = clamp(b1) bounds=0,6 : s8[1,8,8,16] @\n"
      "b3 = clamp(b2) bounds=0,1 : s8[1,8,8,16] @\n"
      "c1 = clamp(a) bounds=0,6 : s8[1,8,8,16] @\n"
      "c2 = clamp(c1) bounds=0,1 : s8[1,8,8,16] @\n"
      "c3 = unary(c2) fn=erf : s8[1,8,8,16] @\n"
      "d = add(b3, c3) : s8[1,8,8,16] @\n"
      "output d\n");
  EXPECT_EQ(delegates_of(p.graph).size(), 2u);
}

TEST(Partition, RefusedFirstAndLast) {
  const Partitioned p = partitioned(
      "a = unary(x) fn=gelu : s8[1,8,8,16] @\n"
      "b = clamp(a) bounds=0,6 : s8[1,8,8,16] @\n"
      "c = unary(b) fn=gelu : s8[1,8,8,16] @\n"
      "output c\n");
  EXPECT_EQ(delegates_of(p.graph).size(), 1u);
  EXPECT_EQ(cpu_nodes(p.graph), 2u);
}

TEST(Partition, NothingForTheNpu) {
  const Partitioned p = partitioned("a = unary(x) fn=gelu : s8[1,8,8,16] @\noutput a\n");
  EXPECT_TRUE(delegates_of(p.graph).empty());
}

TEST(Partition, APartThatComputesNothingIsUndone) {
  const Partitioned p = partitioned("a = reshape(x) shape=8,128 : s8[8,128] @\noutput a\n");
  EXPECT_TRUE(delegates_of(p.graph).empty());
  ASSERT_EQ(p.result.partition.kept_on_cpu.size(), 1u);
  EXPECT_EQ(p.result.partition.kept_on_cpu[0].why.rule, "neutron.partition.empty");
}

TEST(Partition, SmallPartsStayWhenAsked) {
  NpuOptions npu;
  const std::string lines =
      "w = const s8[4,1,1,16] q(axis=0 scale=0.1;0.1;0.1;0.1 zero=0;0;0;0) fill(3)\n"
      "a = conv2d(x, w) : s8[1,8,8,4] @\n"
      "output a\n";
  npu.min_macs = 8 * 8 * 4 * 16;
  EXPECT_EQ(delegates_of(partitioned(lines, npu).graph).size(), 1u);
  npu.min_macs += 1;
  const Partitioned p = partitioned(lines, npu);
  EXPECT_TRUE(delegates_of(p.graph).empty());
  EXPECT_EQ(to_text(p.result.partition.kept_on_cpu[0].why),
            "multiply-adds of its part (delegate_min_macs of the target): 4096, limit at least "
            "4097 [neutron.partition.macs]");
}

TEST(Partition, ExclusionsAreWholeNames) {
  const std::string lines =
      "a = add(x, x) : s8[1,8,8,16] @\n"
      "b = clamp(a) bounds=0,6 : s8[1,8,8,16] @\n"
      "output b\n";
  NpuOptions npu;
  npu.exclude = {"add"};
  const Partitioned p = partitioned(lines, npu);
  EXPECT_EQ(cpu_nodes(p.graph), 1u);
  EXPECT_EQ(p.result.partition.kept_on_cpu[0].why.rule, "neutron.exclude");
  EXPECT_TRUE(p.diagnostics.list().empty());
  npu.exclude = {"ad"};  // not a part of a name, and nothing is called so
  const Partitioned none = partitioned(lines, npu);
  ASSERT_EQ(none.diagnostics.list().size(), 1u);
  EXPECT_EQ(none.diagnostics.list()[0].rule, "neutron.exclude");
  EXPECT_THAT(none.diagnostics.list()[0].fix, testing::HasSubstr("add"));
}

TEST(Partition, MorePortsThanAPayloadCountsMakeItSmaller) {
  std::string lines;
  for (int k = 0; k < 300; ++k)
    lines += "a" + std::to_string(k) + " = clamp(x) bounds=0,1 : s8[1,8,8,16] @\n";
  for (int k = 0; k < 300; ++k) lines += "output a" + std::to_string(k) + "\n";
  const Partitioned p = partitioned(lines);
  ASSERT_EQ(delegates_of(p.graph).size(), 1u);
  EXPECT_EQ(delegates_of(p.graph)[0]->body->outputs.size(), 255u);
  EXPECT_EQ(cpu_nodes(p.graph), 45u);
  EXPECT_EQ(p.result.partition.kept_on_cpu[0].why.rule, "neutron.partition.ports");
}

TEST(Partition, TheTextOfADelegateReadsBack) {
  const Partitioned p = partitioned(
      "a = clamp(x) bounds=0,6 : s8[1,8,8,16] @\n"
      "b = unary(a) fn=gelu : s8[1,8,8,16] @\n"
      "output b\n");
  const std::string text = print(p.graph);
  EXPECT_THAT(text, testing::HasSubstr("delegate(x) backend=neutron"));
  EXPECT_THAT(text, testing::HasSubstr("| a = clamp(x)"));
  Diagnostics d;
  const std::optional<Graph> again = parse(text, "again", d);
  ASSERT_TRUE(again) << format_diagnostic(d.list()[0]);
  EXPECT_EQ(print(*again), text);
}

}  // namespace
}  // namespace deuteron
