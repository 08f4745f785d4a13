// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ir/random_graph.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::ExitedWithCode;

Graph graph_of(std::string_view text) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "test", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  return g ? std::move(*g) : Graph{};
}

// permute(p) -> permute(q)   becomes   one permute, or nothing
std::optional<Patch> join_permutes(const Graph& g, const Uses& uses, NodeId root) {
  const auto* second = op_as<Permute>(g, root);
  if (!second) return {};
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder patch(g, root, "cancelled transposes");
  bool counts_up = true;
  for (size_t k = 0; k < second->perm.size(); ++k)
    counts_up = counts_up && second->perm[k] == static_cast<i64>(k);
  if (counts_up) return patch.replace_root(x);
  const NodeId first = producer_as<Permute>(g, uses, x);
  if (first < 0) return {};
  Axes perm;
  for (const i64 axis : second->perm)
    perm.push_back(std::get<Permute>(g.nodes[first].op).perm[axis]);
  return patch.replace_root(Permute{perm}, g.nodes[first].inputs);
}

// clamp(b) -> clamp(c)   becomes   clamp(both)   where the inner one has no other reader
std::optional<Patch> join_clamps(const Graph& g, const Uses& uses, NodeId root) {
  const auto* outer = op_as<Clamp>(g, root);
  if (!outer) return {};
  const ValueId x = g.nodes[root].inputs[0];
  const NodeId first = producer_as<Clamp>(g, uses, x);
  if (first < 0 || !uses.has_single_reader(x)) return {};
  const Bounds a = std::get<Clamp>(g.nodes[first].op).bounds, b = outer->bounds;
  const auto into_b = [&](float v) { return std::min(std::max(v, b.low), b.high); };
  return PatchBuilder(g, root, "merged")
      .replace_root(Clamp{{into_b(a.low), into_b(a.high)}}, g.nodes[first].inputs);
}

// identity   becomes   nothing
std::optional<Patch> drop_identity(const Graph& g, const Uses&, NodeId root) {
  const auto* unary = op_as<Unary>(g, root);
  const auto* clamp = op_as<Clamp>(g, root);
  if (!(unary && unary->fn == UnaryFn::identity) && !(clamp && clamp->bounds.none())) return {};
  return PatchBuilder(g, root, "identity").replace_root(g.nodes[root].inputs[0]);
}

// unary -> permute   becomes   permute -> unary   where the unary has no other reader
std::optional<Patch> hoist_permute(const Graph& g, const Uses& uses, NodeId root) {
  const auto* permute = op_as<Permute>(g, root);
  if (!permute) return {};
  const ValueId x = g.nodes[root].inputs[0];
  const NodeId unary = producer_as<Unary>(g, uses, x);
  if (unary < 0 || !uses.has_single_reader(x)) return {};
  PatchBuilder patch(g, root, "moved");
  const ValueId permuted = patch.add(*permute, g.nodes[unary].inputs, g.type(x).quant);
  return patch.replace_root(g.nodes[unary].op, {permuted});
}

// permute -> unary   becomes   unary -> permute: with the rule above for ever
std::optional<Patch> sink_permute(const Graph& g, const Uses& uses, NodeId root) {
  const NodeId permute =
      op_as<Unary>(g, root) ? producer_as<Permute>(g, uses, g.nodes[root].inputs[0]) : -1;
  if (permute < 0) return {};
  PatchBuilder patch(g, root, "moved");
  const ValueId y = patch.add(g.nodes[root].op, g.nodes[permute].inputs);
  return patch.replace_root(g.nodes[permute].op, {y});
}

// reshape -> reshape   becomes   the second
std::optional<Patch> join_reshapes(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Reshape>(g, root)) return {};
  const NodeId first = producer_as<Reshape>(g, uses, g.nodes[root].inputs[0]);
  if (first < 0) return {};
  return PatchBuilder(g, root, "reshaped twice")
      .replace_root(g.nodes[root].op, g.nodes[first].inputs);
}

// add(x, x)   becomes   mul(x, 2) with its bounds as a clamp
std::optional<Patch> double_once(const Graph& g, const Uses&, NodeId root) {
  const auto* add = op_as<Add>(g, root);
  const std::vector<ValueId>& in = g.nodes[root].inputs;
  if (!add || in[0] != in[1]) return {};
  PatchBuilder patch(g, root, "");
  const ValueId doubled =
      patch.add(Mul{}, {in[0], patch.constant<float>(DType::f32, {1}, {2.0f}, "two")});
  return patch.replace_root(Clamp{add->bounds}, {doubled});
}

// exp   becomes   exp -> abs, for all readers of exp but the abs: reads the root, so it goes after
// it
std::optional<Patch> append_abs(const Graph& g, const Uses& uses, NodeId root) {
  const auto* unary = op_as<Unary>(g, root);
  if (!unary || unary->fn != UnaryFn::exp) return {};
  const ValueId y = g.nodes[root].outputs[0];
  for (const NodeId reader : uses.readers[y])
    if (const auto* next = op_as<Unary>(g, reader); next && next->fn == UnaryFn::abs) return {};
  PatchBuilder patch(g, root, "");
  return patch.replace_root(patch.add(Unary{UnaryFn::abs, 0}, {y}));
}

TEST(Patch, CancelsAndRecordsWhatVanished) {
  Graph g = graph_of(
      "input x : f32[2,3,5,7]\n"
      "a = permute(x) perm=0,3,1,2\n"
      "b = permute(a) perm=0,2,3,1\n"
      "c = unary(b) fn=tanh\n"
      "output c\noutput b name=\"copy\" order=0,2,3,1\n");
  const Rule rules[] = {join_permutes};
  i64 budget = -1;
  EXPECT_EQ(rewrite(g, rules, &budget), 2);
  EXPECT_EQ(budget, -1);
  EXPECT_EQ(find_fault(g), std::nullopt);
  EXPECT_EQ(print(g),
            "source 0 \"a\" \"text.permute\"\n"
            "source 1 \"b\" \"text.permute\"\n"
            "source 2 \"c\" \"text.unary\"\n"
            "folded 0,1 \"cancelled transposes\"\n"
            "input x : f32[2,3,5,7]\n"
            "c = unary(x) fn=tanh : f32[2,3,5,7] from 2\n"
            "output c\n"
            "output x name=\"copy\" order=0,2,3,1\n");
}

TEST(Patch, MergesOriginsOfWhatDiedAndKeepsNames) {
  Graph g = graph_of(
      "input x : f32[2,3]\n"
      "a = clamp(x) bounds=0,inf\n"
      "b = clamp(a) bounds=-1,6\n"
      "y = unary(b) fn=exp\n"
      "output y\n");
  const Rule rules[] = {join_clamps};
  EXPECT_EQ(rewrite(g, rules, nullptr), 1);
  ASSERT_EQ(g.nodes.size(), 2u);
  EXPECT_THAT(g.nodes[0].origin, ElementsAre(0, 1));
  EXPECT_EQ(std::get<Clamp>(g.nodes[0].op), (Clamp{{0, 6}}));
  EXPECT_EQ(g.values[g.nodes[0].outputs[0]].name, "b");
  EXPECT_TRUE(g.folded.empty());
}

TEST(Patch, KeepsTheOriginsOfNodesThatMove) {
  Graph g = graph_of(
      "input x : f32[2,3,4]\n"
      "a = unary(x) fn=tanh\n"
      "b = unary(a) fn=abs\n"
      "p = permute(b) perm=1,0,2\n"
      "q = permute(p) perm=0,2,1\n"
      "output q\n");
  const Rule rules[] = {hoist_permute, join_permutes};
  EXPECT_EQ(rewrite(g, rules, nullptr), 5);  // p past b and a, q past both, one of two
  EXPECT_EQ(find_fault(g), std::nullopt);
  ASSERT_EQ(g.nodes.size(), 3u);
  EXPECT_EQ(std::get<Permute>(g.nodes[0].op), (Permute{{1, 2, 0}}));
  EXPECT_THAT(g.nodes[0].origin, ElementsAre(2, 3));
  EXPECT_THAT(g.nodes[1].origin, ElementsAre(0));
  EXPECT_THAT(g.nodes[2].origin, ElementsAre(1));
}

TEST(Patch, LeavesAnOperatorThatOthersStillRead) {
  Graph g = graph_of(
      "input x : f32[2,3,4]\n"
      "a = permute(x) perm=1,0,2\n"
      "b = permute(a) perm=0,2,1\n"
      "output b\noutput a\n");
  const Rule rules[] = {join_permutes};
  EXPECT_EQ(rewrite(g, rules, nullptr), 1);
  EXPECT_EQ(find_fault(g), std::nullopt);
  ASSERT_EQ(g.nodes.size(), 2u);
  EXPECT_THAT(g.nodes[0].origin, ElementsAre(0));
  EXPECT_THAT(g.nodes[1].origin, ElementsAre(1));  // a did not die of it
  EXPECT_THAT(std::get<Permute>(g.nodes[1].op).perm, ElementsAre(1, 2, 0));
}

TEST(Patch, GoesAfterARootThatItReads) {
  Graph g = graph_of(
      "input x : f32[5]\n"
      "e = unary(x) fn=exp\n"
      "s = add(e, e)\n"
      "output e name=\"first\"\noutput s\n");
  const Rule rules[] = {append_abs};
  EXPECT_EQ(rewrite(g, rules, nullptr), 1);
  EXPECT_EQ(find_fault(g), std::nullopt);
  ASSERT_EQ(g.nodes.size(), 3u);
  EXPECT_EQ(std::get<Unary>(g.nodes[1].op).fn, UnaryFn::abs);
  EXPECT_EQ(g.outputs[0].value, g.nodes[1].outputs[0]);
  EXPECT_EQ(g.nodes[2].inputs,
            (std::vector<ValueId>{g.nodes[1].outputs[0], g.nodes[1].outputs[0]}));
  EXPECT_THAT(g.nodes[1].origin, ElementsAre(0));
}

TEST(Patch, AddsConstants) {
  Graph g = graph_of("input x : f32[2,3]\ny = add(x, x) bounds=0,1\noutput y\n");
  const Rule rules[] = {double_once};
  EXPECT_EQ(rewrite(g, rules, nullptr), 1);
  EXPECT_EQ(find_fault(g), std::nullopt);
  EXPECT_EQ(print(g),
            "source 0 \"y\" \"text.add\"\n"
            "input x : f32[2,3]\n"
            "two = const f32[1] 2\n"
            "y.part = mul(x, two) : f32[2,3] from 0\n"
            "y = clamp(y.part) bounds=0,1 : f32[2,3] from 0\n"
            "output y\n");
}

TEST(Patch, AppliesOneByHand) {
  Graph g = graph_of(
      "input x : f32[2]\na = unary(x) fn=exp\nb = unary(a) fn=abs\nc = add(a, b)\noutput c\n");
  PatchBuilder patch(g, 1, "exp is positive");
  apply(g, patch.replace_root(g.nodes[1].inputs[0]), 1);
  EXPECT_EQ(find_fault(g), std::nullopt);
  ASSERT_EQ(g.nodes.size(), 2u);
  EXPECT_EQ(g.nodes[1].inputs[0], g.nodes[1].inputs[1]);
  ASSERT_EQ(g.folded.size(), 1u);
  EXPECT_EQ(g.folded[0].reason, "exp is positive");
}

TEST(Patch, TakesNoMoreThanTheBudget) {
  std::string text = "input x : f32[3]\nv0 = unary(x)\n";
  for (int k = 1; k < 9; ++k) text += fmt::format("v{} = unary(v{})\n", k, k - 1);
  for (const i64 limit : {0, 1, 5, 9, 50}) {
    Graph g = graph_of(text + "y = unary(v8) fn=tanh\noutput y\n");
    const Rule rules[] = {drop_identity};
    i64 budget = limit;
    EXPECT_EQ(rewrite(g, rules, &budget), std::min<i64>(limit, 9));
    EXPECT_EQ(budget, limit - std::min<i64>(limit, 9));
    EXPECT_EQ(g.nodes.size(), 10u - static_cast<size_t>(std::min<i64>(limit, 9)));
    EXPECT_EQ(find_fault(g), std::nullopt);
    EXPECT_TRUE(lost_sources(g).empty());
  }
}

TEST(PatchDeathTest, RefusesAChangeOfType) {
  Graph g = graph_of("input x : f32[2,3]\ny = reshape(x) shape=6\noutput y\n");
  EXPECT_EXIT(apply(g, PatchBuilder(g, 0, "").replace_root(0), 0), ExitedWithCode(3),
              "`y`: f32\\[6\\] would become f32\\[2,3\\]");
  Graph q = graph_of(
      "input x : s8[2] q(scale=0.5 zero=1)\ny = clamp(x) : s8[2] q(scale=0.25 zero=1)\noutput y\n");
  EXPECT_EXIT(apply(q, PatchBuilder(q, 0, "").replace_root(0), 0), ExitedWithCode(3),
              "scale=0.25 zero=1\\) would become s8\\[2\\] q\\(scale=0.5");
}

TEST(PatchDeathTest, RefusesAValueThatIsMadeLater) {
  const Graph g = graph_of(
      "input x : f32[2]\na = unary(x) fn=exp\nb = unary(x) fn=abs\nc = add(a, b)\noutput c\n");
  const ValueId a = g.nodes[0].outputs[0], b = g.nodes[1].outputs[0];
  Graph copy = g;
  PatchBuilder reads(copy, 0, "");
  EXPECT_EXIT(apply(copy, reads.replace_root(Unary{UnaryFn::sin, 0}, {b}), 0), ExitedWithCode(3),
              "reads `b`, which is made after unary `a`");
  PatchBuilder replaces(copy, 2, "");
  replaces.replace(copy.nodes[2].outputs[0], a);
  EXPECT_EXIT(apply(copy, PatchBuilder(copy, 0, "").replace(0, b).done(), 0), ExitedWithCode(3),
              "would read `b` before it is made");
  EXPECT_EXIT(apply(copy, Patch{}, 0), ExitedWithCode(3), "replaces nothing");
}

TEST(PatchDeathTest, EndsRulesThatUndoEachOther) {
  Graph g =
      graph_of("input x : f32[2,3]\na = unary(x) fn=tanh\nb = permute(a) perm=1,0\noutput b\n");
  const Rule rules[] = {hoist_permute, sink_permute};
  EXPECT_EXIT(rewrite(g, rules, nullptr), ExitedWithCode(3), "two rules undo each other");
}

// 300 nodes, some 150 * 150 / 2 rewrites: every permute moves up past all unaries, then all become
// one. A quadratic rebuild would not end in the time limit of a test.
TEST(Patch, MovesManyNodesFar) {
  std::string text = "input x : f32[2,3]\nv0 = unary(x) fn=tanh\n";
  for (int k = 1; k < 150; ++k) text += fmt::format("v{} = unary(v{}) fn=tanh\n", k, k - 1);
  text += "p0 = permute(v149) perm=1,0\n";
  for (int k = 1; k < 150; ++k)
    text += fmt::format("w{0} = unary(p{1}) fn=abs\np{0} = permute(w{0}) perm=1,0\n", k, k - 1);
  Graph g = graph_of(text + "output p149\n");
  const Rule rules[] = {hoist_permute, join_permutes};
  const i64 applied = rewrite(g, rules, nullptr);
  EXPECT_GT(applied, 10'000);
  EXPECT_EQ(find_fault(g), std::nullopt);
  EXPECT_EQ(g.nodes.size(), 299u);
  EXPECT_TRUE(lost_sources(g).empty());
}

using Data = std::vector<float>;

std::vector<Data> outputs_of(const Graph& g, const Data& input) {
  std::vector<Data> data(g.values.size());
  for (size_t v = 0; v < data.size(); ++v) {
    data[v].resize(static_cast<size_t>(g.values[v].type.elements()));
    if (g.values[v].constant) std::ranges::copy(g.values[v].constant->as<float>(), data[v].begin());
  }
  data[g.inputs[0].value] = input;
  for (const Node& node : g.nodes) {
    std::vector<HostTensor> in, out;
    for (const ValueId v : node.inputs) in.push_back({&g.type(v), data[v].data()});
    for (const ValueId v : node.outputs) out.push_back({&g.type(v), data[v].data()});
    execute(node.op, in, out);
  }
  std::vector<Data> results;
  for (const Port& port : g.outputs) results.push_back(data[port.value]);
  return results;
}

// Random graphs, random rewriting: the graph verifies after every number of rewrites, nobody's
// origin is lost, and the results are the same bits.
TEST(PatchProperty, KeepsResultsAndOrigins) {
  const Rule rules[] = {join_permutes, join_clamps,   drop_identity,
                        hoist_permute, join_reshapes, double_once};
  i64 total = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Graph original = RandomGraph(seed).grow(25);
    ASSERT_EQ(find_fault(original), std::nullopt) << seed;
    Data input(static_cast<size_t>(original.type(original.inputs[0].value).elements()));
    for (size_t k = 0; k < input.size(); ++k)
      input[k] = std::sin(static_cast<float>(k * k % 97)) * 2;
    const std::vector<Data> expected = outputs_of(original, input);
    for (i64 limit = 1;; limit = limit * 2 + 1) {
      Graph g = original;
      i64 budget = limit;
      const i64 applied = rewrite(g, rules, &budget);
      ASSERT_EQ(find_fault(g), std::nullopt) << "seed " << seed << ", " << applied << " rewrites\n"
                                             << print(g);
      ASSERT_THAT(lost_sources(g), ElementsAre()) << "seed " << seed;
      const std::vector<Data> actual = outputs_of(g, input);
      for (size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(g.outputs[k].order, original.outputs[k].order);
        ASSERT_EQ(g.type(g.outputs[k].value), original.type(original.outputs[k].value));
        for (size_t i = 0; i < expected[k].size(); ++i)
          ASSERT_TRUE(actual[k][i] == expected[k][i] ||
                      (std::isnan(actual[k][i]) && std::isnan(expected[k][i])))
              << "seed " << seed << ", " << applied << " rewrites, output " << k << " element " << i
              << ": " << actual[k][i] << " for " << expected[k][i];
      }
      if (applied < limit) {
        total += applied;
        i64 again = -1;
        EXPECT_EQ(rewrite(g, rules, &again), 0) << "seed " << seed << " was no fixed point";
        break;
      }
    }
  }
  EXPECT_GT(total, 600);
}

}  // namespace
}  // namespace deuteron
