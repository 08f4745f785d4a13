// SPDX-License-Identifier: Apache-2.0
// Operators in place on tensors and on views of them, as torch computes them.
#include <numeric>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using testing::ElementsAre;

// y = x + 0 of shape [3, 4] counts from 0 to 11.
TestModel counting() {
  TestModel m;
  m.input("x", {3, 4});
  m.node("aten.add.Tensor", {{"y", {3, 4}}}, {{"self", as_tensor("x")}, {"other", as_int(0)}});
  return m;
}

std::vector<float> result_of(TestModel& m, const std::string& name) {
  m.output(name);
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 0.0f);
  return results_of(m, {x}).at(0);
}

void slice(TestModel& m, const std::string& of, const std::string& name, const Shape& shape,
           int dim, int start, int end, int step = 1) {
  m.node("aten.slice.Tensor", {{name, shape}},
         {{"self", as_tensor(of)},
          {"dim", as_int(dim)},
          {"start", as_int(start)},
          {"end", as_int(end)},
          {"step", as_int(step)}});
}
void fill(TestModel& m, const std::string& view, const Shape& shape, float value) {
  m.node("aten.fill_.Scalar", {{view + "_filled", shape}},
         {{"self", as_tensor(view)}, {"value", as_float(value)}});
}

TEST(InPlace, AViewShowsWhatItsBaseBecomes) {
  TestModel m = counting();
  m.node("aten.view.default", {{"view", {12}}},
         {{"self", as_tensor("y")}, {"size", as_ints({12})}});
  m.node("aten.neg_.default", {{"n", {3, 4}}}, {{"self", as_tensor("y")}});
  EXPECT_THAT(result_of(m, "view"), ElementsAre(0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11));
}

// y[:, 1] = 9
TEST(InPlace, AColumnThatIsWrittenIsPartOfItsBase) {
  TestModel m = counting();
  m.node("aten.select.int", {{"column", {3}}},
         {{"self", as_tensor("y")}, {"dim", as_int(1)}, {"index", as_int(1)}});
  fill(m, "column", {3}, 9);
  EXPECT_THAT(result_of(m, "y"), ElementsAre(0, 9, 2, 3, 4, 9, 6, 7, 8, 9, 10, 11));
}

// y[1:, 0:4:2] = -1, then what another view, made before, shows of it.
TEST(InPlace, OtherViewsSeeABlockThatIsWritten) {
  TestModel m = counting();
  m.node("aten.t.default", {{"turned", {4, 3}}}, {{"self", as_tensor("y")}});
  slice(m, "y", "rows", {2, 4}, 0, 1, 3);
  slice(m, "rows", "block", {2, 2}, 1, 0, 4, 2);
  fill(m, "block", {2, 2}, -1);
  EXPECT_THAT(result_of(m, "turned"), ElementsAre(0, -1, -1, 1, 5, 9, 2, -1, -1, 3, 7, 11));
}

// Two writes one over the other, through views of views; the views read their memory as it is then.
TEST(InPlace, WritesFollowEachOther) {
  TestModel m = counting();
  slice(m, "y", "first", {2, 4}, 0, 0, 2);
  slice(m, "y", "last", {2, 4}, 0, 1, 3);
  m.node("aten.neg_.default", {{"n", {2, 4}}}, {{"self", as_tensor("first")}});
  m.node("aten.mul_.Tensor", {{"p", {2, 4}}}, {{"self", as_tensor("last")}, {"other", as_int(2)}});
  m.node("aten.add_.Tensor", {{"a", {2, 4}}}, {{"self", as_tensor("n")}, {"other", as_int(100)}});
  EXPECT_THAT(result_of(m, "y"), ElementsAre(100, 99, 98, 97, 92, 90, 88, 86, 16, 18, 20, 22));
}

// The transposed matrix is written through a view that has its rows.
TEST(InPlace, ATurnedViewWritesWhereItsElementsLie) {
  TestModel m = counting();
  m.node("aten.t.default", {{"turned", {4, 3}}}, {{"self", as_tensor("y")}});
  slice(m, "turned", "part", {2, 3}, 0, 1, 3);
  m.parameter("new", {2, 3}, std::vector<float>{-1, -2, -3, -4, -5, -6});
  m.node("aten.copy_.default", {{"c", {2, 3}}},
         {{"self", as_tensor("part")}, {"src", as_tensor("p_new")}});
  EXPECT_THAT(result_of(m, "y"), ElementsAre(0, -1, -4, 3, 4, -2, -5, 7, 8, -3, -6, 11));
}

// Positions 0 and 3 of an axis, as index 0:4:3 names them, and rows 0 and 2: blocks with gaps along
// two axes.
TEST(InPlace, BlocksMayHaveGaps) {
  TestModel m = counting();
  slice(m, "y", "rows", {2, 4}, 0, 0, 3, 2);
  slice(m, "rows", "corners", {2, 2}, 1, 0, 4, 3);
  fill(m, "corners", {2, 2}, 50);
  EXPECT_THAT(result_of(m, "y"), ElementsAre(50, 1, 2, 50, 4, 5, 6, 7, 50, 9, 10, 50));
}

TEST(InPlace, ACopyKeepsWhatItHas) {
  TestModel m = counting();
  m.node("aten.clone.default", {{"copy", {3, 4}}}, {{"self", as_tensor("y")}});
  slice(m, "y", "row", {1, 4}, 0, 0, 1);
  fill(m, "row", {1, 4}, 7);
  EXPECT_THAT(result_of(m, "copy"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

// What torch calls ..._copy gives the elements of the view of that name, and memory of its own:
// neither sees what is written to the other.
TEST(InPlace, TheCopyingFormOfAViewIsNoView) {
  using testing::ElementsAreArray;
  struct Form {
    std::string target;
    Shape shape;
    Arguments more;
    std::vector<float> copied;
  };
  const std::vector<float> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                           turned = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};
  const Form forms[] = {
      {"aten._reshape_copy.default", {2, 6}, {{"size", as_ints({2, 6})}}, all},
      {"aten.alias_copy.default", {3, 4}, {}, all},
      {"aten.as_strided_copy.default",
       {2, 6},
       {{"size", as_ints({2, 6})}, {"stride", as_ints({6, 1})}},
       all},
      {"aten.diagonal_copy.default", {3}, {}, {0, 5, 10}},
      {"aten.expand_copy.default", {1, 3, 4}, {{"size", as_ints({1, 3, 4})}}, all},
      {"aten.narrow_copy.default",
       {1, 4},
       {{"dim", as_int(0)}, {"start", as_int(1)}, {"length", as_int(1)}},
       {4, 5, 6, 7}},
      {"aten.permute_copy.default", {4, 3}, {{"dims", as_ints({1, 0})}}, turned},
      {"aten.squeeze_copy.default", {3, 4}, {}, all},
      {"aten.squeeze_copy.dim", {3, 4}, {{"dim", as_int(0)}}, all},
      {"aten.squeeze_copy.dims", {3, 4}, {{"dim", as_ints({0, 1})}}, all},
      {"aten.t_copy.default", {4, 3}, {}, turned},
      {"aten.transpose_copy.int", {4, 3}, {{"dim0", as_int(0)}, {"dim1", as_int(1)}}, turned},
      {"aten.unsqueeze_copy.default", {3, 1, 4}, {{"dim", as_int(1)}}, all},
      {"aten.view_copy.default", {12}, {{"size", as_ints({12})}}, all},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.target);
    Arguments arguments{{"self", as_tensor("y")}};
    arguments.insert(arguments.end(), form.more.begin(), form.more.end());
    TestModel base_written = counting();
    base_written.node(form.target, {{"z", form.shape}}, arguments);
    fill(base_written, "y", {3, 4}, -1);
    EXPECT_THAT(result_of(base_written, "z"), ElementsAreArray(form.copied));
    TestModel copy_written = counting();
    copy_written.node(form.target, {{"z", form.shape}}, arguments);
    fill(copy_written, "z", form.shape, -1);
    EXPECT_THAT(result_of(copy_written, "y"), ElementsAreArray(all));
  }
  TestModel rows = counting();
  rows.node("aten.unbind_copy.int", {{"a", {4}}, {"b", {4}}, {"c", {4}}},
            {{"self", as_tensor("y")}, {"dim", as_int(0)}});
  fill(rows, "y", {3, 4}, -1);
  EXPECT_THAT(result_of(rows, "b"), ElementsAre(4, 5, 6, 7));
}

// Split gives several views at once.
TEST(InPlace, EveryPartOfASplitIsAView) {
  TestModel m = counting();
  m.node("aten.split.Tensor", {{"a", {3, 2}}, {"b", {3, 2}}},
         {{"self", as_tensor("y")}, {"split_size", as_int(2)}, {"dim", as_int(1)}});
  fill(m, "b", {3, 2}, -1);
  m.node("aten.neg_.default", {{"n", {3, 4}}}, {{"self", as_tensor("y")}});
  EXPECT_THAT(result_of(m, "b"), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(InPlace, AMaskThatIsFilledByPartsIsAConstant) {
  TestModel m;
  m.input("x", {2, 2});
  m.node("aten.new_zeros.default", {{"mask", {2, 2}}},
         {{"self", as_tensor("x")}, {"size", as_ints({2, 2})}});
  slice(m, "mask", "row", {1, 2}, 0, 1, 2);
  slice(m, "row", "cell", {1, 1}, 1, 0, 1);
  fill(m, "cell", {1, 1}, 5);
  m.node("aten.add.Tensor", {{"z", {2, 2}}},
         {{"self", as_tensor("x")}, {"other", as_tensor("mask")}});
  m.output("z");
  EXPECT_THAT(results_of(m, {{1, 2, 3, 4}}).at(0), ElementsAre(1, 2, 8, 4));
}

// self.cache[0] = x: the whole buffer is a state.
TEST(InPlace, ABufferThatIsWrittenThroughAViewIsState) {
  TestModel m;
  m.input("x", {4});
  m.parameter("b", {2, 4}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  m.node("aten.select.int", {{"row", {4}}},
         {{"self", as_tensor("p_b")}, {"dim", as_int(0)}, {"index", as_int(0)}});
  m.node("aten.copy_.default", {{"c", {4}}}, {{"self", as_tensor("row")}, {"src", as_tensor("x")}});
  m.node("aten.neg.default", {{"y", {2, 4}}}, {{"self", as_tensor("p_b")}});
  m.output("y");
  const Graph g = imported(m);
  ASSERT_EQ(g.states.size(), 1u);
  EXPECT_EQ(g.type(g.state_outputs()[0].value).shape, (Shape{2, 4}));
  const std::vector<std::vector<float>> results = results_of(m, {{-1, -2, -3, -4}});
  EXPECT_THAT(results.at(0), ElementsAre(1, 2, 3, 4, -4, -5, -6, -7));
  EXPECT_THAT(results.at(1), ElementsAre(-1, -2, -3, -4, 4, 5, 6, 7));
}

}  // namespace
}  // namespace deuteron::pt2
