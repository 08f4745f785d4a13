// SPDX-License-Identifier: Apache-2.0
// Elements by tables of positions, known and computed; integers and tensors of no elements on the
// way to them.
#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using ::testing::ElementsAre;

json tables_of(const std::vector<std::string>& names) {
  json list = json::array();
  for (const std::string& name : names)
    list.push_back(name.empty() ? json{{"as_none", true}} : json{{"as_tensor", {{"name", name}}}});
  return {{"as_optional_tensors", list}};
}

std::vector<float> counted(i64 n) {
  std::vector<float> x;
  for (i64 k = 0; k < n; ++k) x.push_back(static_cast<float>(k));
  return x;
}

// x[tables] of x [2,3,4], with `a` [2] and `b` [2,1], from constants or from inputs.
std::vector<float> picked(const std::vector<std::string>& names, const Shape& out, bool computed) {
  TestModel m;
  m.input("x", {2, 3, 4});
  std::vector<std::vector<float>> inputs{counted(24)};
  if (computed) {
    m.input("a", {2}, {}, kS64), m.input("b", {2, 1}, {}, kS64);
    inputs.push_back({1, 0}), inputs.push_back({2, 1});
  } else {
    m.node("aten.arange.start_step", {{"a", {2}, kS64}},
           {{"start", as_int(1)}, {"end", as_int(-1)}, {"step", as_int(-1)}});
    m.node("aten.add.Tensor", {{"c", {2}, kS64}}, {{"self", as_tensor("a")}, {"other", as_int(1)}});
    m.node("aten.unsqueeze.default", {{"b", {2, 1}, kS64}},
           {{"self", as_tensor("c")}, {"dim", as_int(1)}});
  }
  m.node("aten.index.Tensor", {{"y", out}},
         {{"self", as_tensor("x")}, {"indices", tables_of(names)}});
  m.output("y");
  return results_of(m, inputs)[0];
}

TEST(Picking, TablesAreBroadcastAgainstEachOther) {
  for (const bool computed : {false, true}) {
    EXPECT_THAT(picked({"a", "b"}, {2, 2, 4}, computed),
                ElementsAre(20, 21, 22, 23, 8, 9, 10, 11, 16, 17, 18, 19, 4, 5, 6, 7))
        << computed;
    EXPECT_THAT(picked({"a", "a", "a"}, {2}, computed), ElementsAre(17, 0)) << computed;
  }
}

// Tables of neighbours stand in their place, others in front.
TEST(Picking, AxesBetweenAndBeforeStay) {
  for (const bool computed : {false, true}) {
    EXPECT_THAT(picked({"", "a", "a"}, {2, 2}, computed), ElementsAre(5, 0, 17, 12)) << computed;
    EXPECT_THAT(picked({"a", "", "a"}, {2, 3}, computed), ElementsAre(13, 17, 21, 0, 4, 8))
        << computed;
    EXPECT_THAT(picked({"", "", "b"}, {2, 3, 2, 1}, computed),
                ElementsAre(2, 1, 6, 5, 10, 9, 14, 13, 18, 17, 22, 21))
        << computed;
  }
}

TEST(Picking, SelectsByComputedPositions) {
  TestModel m;
  m.input("x", {2, 3}), m.input("i", {2}, {}, kS64), m.input("j", {2, 1}, {}, kS64);
  m.node("aten.index_select.default", {{"y", {2, 2}}},
         {{"self", as_tensor("x")}, {"dim", as_int(1)}, {"index", as_tensor("i")}});
  m.node("aten.take_along_dim.default", {{"z", {2, 1}}},
         {{"self", as_tensor("x")}, {"indices", as_tensor("j")}, {"dim", as_int(1)}});
  m.output("y"), m.output("z");
  const auto results = results_of(m, {{1, 2, 3, 4, 5, 6}, {2, 0}, {1, 2}});
  EXPECT_THAT(results[0], ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(results[1], ElementsAre(2, 6));
}

// The last position that a mask keeps.
TEST(Picking, SumsOfIntegersArePositions) {
  TestModel m;
  m.input("x", {2, 3}), m.input("mask", {2, 3}, {}, kS64);
  m.node("aten.sum.dim_IntList", {{"count", {2}, kS64}},
         {{"self", as_tensor("mask")}, {"dim", as_ints({-1})}});
  m.node("aten.sub.Tensor", {{"last", {2}, kS64}},
         {{"self", as_tensor("count")}, {"other", as_int(1)}});
  m.node("aten.arange.default", {{"rows", {2}, kS64}}, {{"end", as_int(2)}});
  m.node("aten.index.Tensor", {{"y", {2}}},
         {{"self", as_tensor("x")}, {"indices", tables_of({"rows", "last"})}});
  m.output("y");
  EXPECT_THAT(results_of(m, {{1, 2, 3, 4, 5, 6}, {1, 1, 0, 1, 1, 1}})[0], ElementsAre(2, 6));
}

TEST(Picking, DifferencesHaveElementsBeforeAndBehind) {
  TestModel m;
  m.input("x", {2, 3}), m.input("p", {2, 1}), m.input("i", {2, 3}, {}, kS64);
  m.node("aten.diff.default", {{"y", {2, 4}}},
         {{"self", as_tensor("x")},
          {"dim", as_int(1)},
          {"prepend", as_tensor("p")},
          {"append", as_tensor("p")}});
  m.node("aten.diff.default", {{"z", {2, 2}, kS64}},
         {{"self", as_tensor("i")}, {"dim", as_int(1)}});
  m.output("y"), m.output("z");
  const auto results = results_of(m, {{1, 3, 4, 8, 8, 2}, {1, 0}, {1, 3, 4, 8, 8, 2}});
  EXPECT_THAT(results[0], ElementsAre(0, 2, 1, -3, 8, 0, -6, -2));
  EXPECT_THAT(results[1], ElementsAre(2, 1, 0, -6));
}

// What is made of no elements is not computed, whatever the operator; a concatenation goes without
// it, and its sum is zero.
TEST(Picking, TensorsOfNoElementsVanish) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.slice.Tensor", {{"e", {2, 0}}},
         {{"self", as_tensor("x")}, {"dim", as_int(1)}, {"end", as_int(0)}});
  m.node("aten.exp.default", {{"f", {2, 0}}}, {{"self", as_tensor("e")}});
  m.node(
      "aten.cat.default", {{"y", {2, 3}}},
      {{"tensors", json{{"as_tensors", {{{"name", "f"}}, {{"name", "x"}}}}}}, {"dim", as_int(1)}});
  m.node("aten.sum.dim_IntList", {{"s", {2, 1}}},
         {{"self", as_tensor("f")}, {"dim", as_ints({1})}, {"keepdim", as_bool(true)}});
  m.node("aten.add.Tensor", {{"z", {2, 3}}}, {{"self", as_tensor("y")}, {"other", as_tensor("s")}});
  m.output("z");
  EXPECT_THAT(results_of(m, {{1, 2, 3, 4, 5, 6}})[0], ElementsAre(1, 2, 3, 4, 5, 6));
}

}  // namespace
}  // namespace deuteron::pt2
