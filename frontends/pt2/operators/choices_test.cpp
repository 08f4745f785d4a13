// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using ::testing::ElementsAre;

constexpr int kBool = 12;

// A mask that the model computes from nothing but constants: column <= row.
void add_causal_mask(TestModel& m, i64 extent) {
  m.node("aten.arange.default", {{"positions", {extent}, kS64}}, {{"end", as_int(extent)}});
  m.node("aten.unsqueeze.default", {{"rows", {extent, 1}, kS64}},
         {{"self", as_tensor("positions")}, {"dim", as_int(1)}});
  m.node("aten.le.Tensor", {{"mask", {extent, extent}, kBool}},
         {{"self", as_tensor("positions")}, {"other", as_tensor("rows")}});
}

size_t calls_in(const Graph& g) {
  size_t calls = 0;
  for (const Node& node : g.nodes) calls += std::holds_alternative<KernelCall>(node.op);
  return calls;
}

TEST(Choices, MasksOfConstantsAreKnown) {
  for (const bool is_number : {false, true}) {
    TestModel m;
    m.input("x", {3, 3});
    add_causal_mask(m, 3);
    const json low = {{"as_float", "-Infinity"}};
    m.node("aten.scalar_tensor.default", {{"low", {}}}, {{"s", low}});
    m.node(is_number ? "aten.where.ScalarOther" : "aten.where.self", {{"scores", {3, 3}}},
           {{"condition", as_tensor("mask")},
            {"self", as_tensor("x")},
            {"other", is_number ? low : as_tensor("low")}});
    m.node("aten.softmax.int", {{"y", {3, 3}}},
           {{"self", as_tensor("scores")}, {"dim", as_int(-1)}});
    m.output("y");
    EXPECT_EQ(calls_in(imported(m)), 0u);
    EXPECT_THAT(results_of(m, {{5, 100, 100, 2, 2, 100, 1, 1, 1}})[0],
                ElementsAre(1, 0, 0, 0.5f, 0.5f, 0, 1 / 3.f, 1 / 3.f, 1 / 3.f));
  }
}

// What masks are made of is often the lowest float: as a truth value it is any other than 0.
TEST(Choices, TheLowestNumberIsTrue) {
  TestModel m;
  m.input("x", {3});
  m.parameter("low", {3}, std::vector<float>{0, std::numeric_limits<float>::lowest(), 0});
  m.node("aten.to.dtype", {{"mask", {3}, kBool}},
         {{"self", as_tensor("p_low")}, {"dtype", as_dtype(kBool)}});
  m.node("aten.masked_fill.Scalar", {{"y", {3}}},
         {{"self", as_tensor("x")}, {"mask", as_tensor("mask")}, {"value", as_float(-7)}});
  m.output("y");
  EXPECT_THAT(results_of(m, {{1, 2, 3}})[0], ElementsAre(1, -7, 3));
}

TEST(Choices, TheLargestOfComputedIntegersIsExact) {
  TestModel m;
  m.input("n", {2, 3}, {}, kS64);
  m.node("aten.max.default", {{"most", {}, kS64}}, {{"self", as_tensor("n")}});
  m.node("aten.amin.default", {{"least", {2}, kS64}},
         {{"self", as_tensor("n")}, {"dim", as_ints({1})}});
  m.output("most"), m.output("least");
  const auto results = results_of(m, {{5, 2, 9, 4, 7, 1}});
  EXPECT_THAT(results[0], ElementsAre(9));
  EXPECT_THAT(results[1], ElementsAre(2, 1));
}

// tril of a buffer, cut to size, compared with 0: what attention written by hand does.
TEST(Choices, TrianglesOfBuffersMaskScores) {
  for (const bool upper : {false, true}) {
    TestModel m;
    m.input("x", {2, 2, 3});
    m.parameter("ones", {4, 4}, std::vector<float>(16, 1));
    m.node(upper ? "aten.triu.default" : "aten.tril.default", {{"t", {4, 4}}},
           {{"self", as_tensor("p_ones")}, {"diagonal", as_int(upper)}});
    m.node("aten.slice.Tensor", {{"r", {2, 4}}},
           {{"self", as_tensor("t")}, {"dim", as_int(0)}, {"end", as_int(2)}});
    m.node("aten.slice.Tensor", {{"s", {2, 3}}},
           {{"self", as_tensor("r")}, {"dim", as_int(1)}, {"end", as_int(3)}});
    m.node("aten.eq.Scalar", {{"mask", {2, 3}, kBool}},
           {{"self", as_tensor("s")}, {"other", as_int(0)}});
    m.node("aten.masked_fill.Scalar", {{"y", {2, 2, 3}}},
           {{"self", as_tensor("x")}, {"mask", as_tensor("mask")}, {"value", as_float(-7)}});
    m.output("y");
    EXPECT_EQ(calls_in(imported(m)), 0u);
    const std::vector<float> y = results_of(m, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}})[0];
    if (upper) EXPECT_THAT(y, ElementsAre(-7, 2, 3, -7, -7, 6, -7, 8, 9, -7, -7, 12));
    else EXPECT_THAT(y, ElementsAre(1, -7, -7, 4, 5, -7, 7, -7, -7, 10, 11, -7));
  }
}

TEST(Choices, ComputedMasksAreCalls) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.gt.Scalar", {{"mask", {2, 3}, kBool}},
         {{"self", as_tensor("x")}, {"other", as_float(0.5)}});
  m.node("aten.where.ScalarSelf", {{"y", {2, 3}}},
         {{"condition", as_tensor("mask")}, {"self", as_float(9)}, {"other", as_tensor("x")}});
  m.node("aten.masked_fill.Scalar", {{"z", {2, 3}}},
         {{"self", as_tensor("x")}, {"mask", as_tensor("mask")}, {"value", as_int(-1)}});
  m.output("y"), m.output("z");
  const auto results = results_of(m, {{0, 1, 2, -1, 0.5f, 0.75f}});
  EXPECT_THAT(results[0], ElementsAre(0, 9, 9, -1, 0.5f, 9));
  EXPECT_THAT(results[1], ElementsAre(0, -1, -1, -1, 0.5f, -1));
}

TEST(Choices, TriangleOfComputedValues) {
  EXPECT_THAT(
      results_of(model_of("aten.tril.default", {1, 2, 3}, {1, 2, 3}, {{"diagonal", as_int(1)}}),
                 {{1, 2, 3, 4, 5, 6}})[0],
      ElementsAre(1, 2, 0, 4, 5, 6));
}

TEST(Choices, OneHotOfThePositionOfTheLargest) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.argmax.default", {{"i", {2}, kS64}}, {{"self", as_tensor("x")}, {"dim", as_int(1)}});
  m.node("aten.one_hot.default", {{"y", {2, 3}, kS64}},
         {{"self", as_tensor("i")}, {"num_classes", as_int(3)}});
  m.output("y");
  EXPECT_THAT(results_of(m, {{1, 5, 3, 7, 2, 4}})[0], ElementsAre(0, 1, 0, 1, 0, 0));
}

// The factor is known, with a range of its own: before, a call whose operands were all constants
// was never observed.
TEST(Choices, ConvertedMasksAreFactors) {
  TestModel m;
  m.input("x", {2, 4});
  m.node("aten.arange.default", {{"positions", {4}, kS64}}, {{"end", as_int(4)}});
  m.node("aten.lt.Scalar", {{"mask", {4}, kBool}},
         {{"self", as_tensor("positions")}, {"other", as_int(2)}});
  m.node("aten.to.dtype", {{"factor", {4}}},
         {{"self", as_tensor("mask")}, {"dtype", as_dtype(kF32)}});
  m.node("aten.mul.Tensor", {{"y", {2, 4}}},
         {{"self", as_tensor("x")}, {"other", as_tensor("factor")}});
  m.output("y");
  EXPECT_EQ(imported(m).nodes.size(), 1u);
  EXPECT_THAT(results_of(m, {{1, 2, 3, 4, 5, 6, 7, 8}})[0], ElementsAre(1, 2, 0, 0, 5, 6, 0, 0));
}

TEST(Choices, ComputedMasksAreNumbersToArithmetic) {
  TestModel m;
  m.input("x", {4});
  m.node("aten.gt.Scalar", {{"mask", {4}, kBool}},
         {{"self", as_tensor("x")}, {"other", as_int(0)}});
  m.node("aten.mul.Tensor", {{"y", {4}}}, {{"self", as_tensor("x")}, {"other", as_tensor("mask")}});
  m.output("y");
  EXPECT_THAT(results_of(m, {{-1, 2, 0, 3}})[0], ElementsAre(0, 2, 0, 3));
}

// A product of truth values is true where both are, a sum where either is; numbers that are chosen
// have the dtype of the result.
TEST(Choices, TruthValuesAreCountedAsTruths) {
  TestModel m;
  m.input("x", {4});
  m.node("aten.gt.Scalar", {{"above", {4}, kBool}},
         {{"self", as_tensor("x")}, {"other", as_int(0)}});
  m.node("aten.lt.Scalar", {{"below", {4}, kBool}},
         {{"self", as_tensor("x")}, {"other", as_int(3)}});
  m.node("aten.mul.Tensor", {{"both", {4}, kBool}},
         {{"self", as_tensor("above")}, {"other", as_tensor("below")}});
  m.node("aten.add.Tensor", {{"either", {4}, kBool}},
         {{"self", as_tensor("both")}, {"other", as_tensor("above")}});
  m.node("aten.__iand__.Tensor", {{"between", {4}, kBool}},
         {{"self", as_tensor("either")}, {"other", as_tensor("below")}});
  m.node("aten.all.dim", {{"all", {}, kBool}}, {{"self", as_tensor("below")}, {"dim", as_int(0)}});
  m.node("aten.where.Scalar", {{"n", {4}, kS64}},
         {{"condition", as_tensor("between")}, {"self", as_int(5)}, {"other", as_int(-2)}});
  m.node("aten.where.Scalar", {{"k", {}, kS64}},
         {{"condition", as_tensor("all")}, {"self", as_int(1)}, {"other", as_int(2)}});
  m.node("aten.mul.Tensor", {{"y", {4}}}, {{"self", as_tensor("x")}, {"other", as_tensor("n")}});
  m.node("aten.mul.Tensor", {{"z", {4}}}, {{"self", as_tensor("y")}, {"other", as_tensor("k")}});
  m.output("z");
  EXPECT_THAT(results_of(m, {{-1, 2, 0, 3}})[0], ElementsAre(4, 20, 0, -12));
}

// Relative positions: integers that the model computes from constants pick from a table.
TEST(Choices, PositionsAreComputedFromConstants) {
  TestModel m;
  m.input("x", {2, 2});
  m.parameter("table", {3}, std::vector<float>{10, 20, 30});
  m.node("aten.arange.default", {{"p", {2}, kS64}}, {{"end", as_int(2)}});
  m.node("aten.unsqueeze.default", {{"rows", {2, 1}, kS64}},
         {{"self", as_tensor("p")}, {"dim", as_int(1)}});
  m.node("aten.sub.Tensor", {{"apart", {2, 2}, kS64}},
         {{"self", as_tensor("rows")}, {"other", as_tensor("p")}});
  m.node("aten.add.Tensor", {{"index", {2, 2}, kS64}},
         {{"self", as_tensor("apart")}, {"other", as_int(1)}});
  m.node("aten.index.Tensor", {{"bias", {2, 2}}},
         {{"self", as_tensor("p_table")},
          {"indices", {{"as_optional_tensors", {{{"as_tensor", {{"name", "index"}}}}}}}}});
  m.node("aten.add.Tensor", {{"y", {2, 2}}},
         {{"self", as_tensor("x")}, {"other", as_tensor("bias")}});
  m.output("y");
  EXPECT_THAT(results_of(m, {{1, 2, 3, 4}})[0], ElementsAre(21, 12, 33, 24));
}

}  // namespace
}  // namespace deuteron::pt2
