// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/verify.h"

namespace deuteron {
namespace {

using testing::ElementsAre;

Type f32(Shape shape) { return {DType::f32, std::move(shape), {}}; }

// x -> clamp(0) -> tanh(1) -> out, and an exp(2) of the clamp that nobody reads
Graph small() {
  Graph g;
  g.name = "small.pt2";
  for (const char* name : {"clamp", "tanh", "exp"}) g.sources.push_back({name, "aten", "", ""});
  const ValueId x = g.add_value("x", f32({2, 3, 5}));
  g.add_value("unused", f32({1}), constant_of<float>({1.0f}));
  const ValueId a = g.add_node(Clamp{{0.0f, 6.0f}}, {x}, {f32({2, 3, 5})}, "a", {0});
  const ValueId b = g.add_node(Unary{UnaryFn::tanh, 0}, {a}, {f32({2, 3, 5})}, "b", {1});
  g.add_node(Unary{UnaryFn::exp, 0}, {a}, {f32({2, 3, 5})}, "c", {2});
  g.inputs.push_back({x, "x", {0, 1, 2}});
  g.outputs.push_back({b, "y", {2, 0, 1}});
  return g;
}

TEST(Graph, MergesOrigins) {
  EXPECT_THAT(merge({1, 4, 9}, {0, 4, 5}), ElementsAre(0, 1, 4, 5, 9));
  EXPECT_THAT(merge({}, {3}), ElementsAre(3));
}

TEST(Graph, PutsStorageExtentsAtTheUsersAxes) {
  EXPECT_THAT(logical_shape({0, "image", {0, 2, 3, 1}}, {2, 5, 7, 3}), ElementsAre(2, 3, 5, 7));
  EXPECT_THAT(logical_shape({0, "scalar", {}}, {}), ElementsAre());
}

TEST(Graph, NamesResultsAndCountsUses) {
  Graph g = small();
  EXPECT_EQ(find_fault(g), std::nullopt);
  const Uses uses(g);
  EXPECT_EQ(uses.producer[0], -1);
  EXPECT_EQ(uses.producer[2], 0);
  EXPECT_THAT(uses.readers[2], ElementsAre(1, 2));
  EXPECT_FALSE(uses.has_single_reader(2));
  EXPECT_TRUE(uses.has_single_reader(0));
  EXPECT_EQ(uses.output_uses[3], 1);
  KernelCall call;
  call.name = "k::two";
  g.add_node(call, {0}, {f32({1}), f32({2})}, "pair", {0});
  EXPECT_EQ(g.values.back().name, "pair.1");
  std::vector<const Type*> storage;
  const TypeView view = g.types(g.nodes.back().outputs, storage);
  EXPECT_EQ(view.size(), 2u);
  EXPECT_EQ(view[1].shape, Shape{2});
}

TEST(Graph, DescribesANodeInTheUsersNames) {
  Graph g = small();
  EXPECT_EQ(describe(g, g.nodes[0]), "clamp `clamp` (source op 0)");
  g.sources[1].module = "backbone.7.act";
  g.nodes[0].origin = {0, 1};
  g.sources[0].name.clear();
  EXPECT_EQ(describe(g, g.nodes[0]), "clamp `backbone.7.act` (source ops 0, 1)");
  g.nodes[1].origin.clear();
  EXPECT_EQ(describe(g, g.nodes[1]), "unary `b`");
}

TEST(Graph, CountsMultiplyAdds) {
  Graph g;
  g.sources.push_back({"c", "aten", "", ""});
  const ValueId x = g.add_value("x", f32({2, 5, 7, 3}));
  const ValueId w = g.add_value("w", f32({4, 3, 1, 3}), constant_of(std::vector<float>(36)));
  g.add_node(Conv2d{}, {x, w}, {f32({2, 3, 7, 4})}, "y", {0});
  EXPECT_EQ(macs_of(g, g.nodes[0]), 2 * 3 * 7 * 4 * 3 * 1 * 3);
  KernelCall call;
  call.macs = 77;
  g.nodes[0].op = call;
  EXPECT_EQ(macs_of(g, g.nodes[0]), 77);
}

TEST(Graph, RemovesWhatNobodyReadsAndRecordsIt) {
  Graph g = small();
  remove_dead(g, "unused result");
  EXPECT_EQ(find_fault(g), std::nullopt);
  ASSERT_EQ(g.nodes.size(), 2u);
  ASSERT_EQ(g.values.size(), 3u);
  EXPECT_EQ(g.values[1].name, "a");
  ASSERT_EQ(g.folded.size(), 1u);
  EXPECT_THAT(g.folded[0].origin, ElementsAre(2));
  EXPECT_EQ(g.folded[0].reason, "unused result");
  EXPECT_THAT(lost_sources(g), ElementsAre());
}

TEST(Graph, DoesNotRecordAnOperatorThatStillHasANode) {
  Graph g = small();
  g.nodes[2].origin = {1, 2};  // 1 is also the origin of tanh
  g.folded.push_back({{2}, "known already"});
  remove_dead(g, "unused result");
  ASSERT_EQ(g.folded.size(), 1u);
  EXPECT_EQ(g.folded[0].reason, "known already");
}

TEST(Graph, RemovesAWholeDeadChainButNoInput) {
  Graph g = small();
  const ValueId unread = g.add_value("second input", f32({4}));
  g.inputs.push_back({unread, "second", {0}});
  g.outputs[0].value = 0;  // the input itself
  remove_dead(g, "unused result");
  EXPECT_EQ(find_fault(g), std::nullopt);
  EXPECT_TRUE(g.nodes.empty());
  EXPECT_EQ(g.values.size(), 2u);
  EXPECT_EQ(g.values[g.inputs[1].value].name, "second input");
  EXPECT_THAT(lost_sources(g), ElementsAre());
}

}  // namespace
}  // namespace deuteron
