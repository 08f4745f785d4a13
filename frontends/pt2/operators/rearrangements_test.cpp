// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<float> one(const std::string& target, const Shape& in, const Shape& out, Arguments more,
                       const std::string& first = "self") {
  std::vector<float> x(static_cast<size_t>(numel(in)));
  std::iota(x.begin(), x.end(), 0.0f);
  return results_of(model_of(target, in, out, std::move(more), first), {x})[0];
}

TEST(Rearrangements, MoveAndRepeat) {
  EXPECT_THAT(one("aten.movedim.int", {2, 1, 3}, {1, 3, 2},
                  {{"source", as_int(0)}, {"destination", as_int(-1)}}),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(one("aten.movedim.intlist", {2, 1, 3}, {3, 2, 1},
                  {{"source", as_ints({2, 0})}, {"destination", as_ints({0, 1})}}),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(one("aten.mT.default", {1, 2, 3}, {1, 3, 2}, {}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(one("aten.tile.default", {2, 2}, {2, 4}, {{"dims", as_ints({2})}}),
              ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_THAT(one("aten.repeat.default", {1, 2}, {2, 3, 4}, {{"repeats", as_ints({2, 3, 2})}}),
              ElementsAreArray(std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
                                                  0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_THAT(one("aten.repeat_interleave.self_int", {2, 2}, {2, 4},
                  {{"repeats", as_int(2)}, {"dim", as_int(1)}}),
              ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(one("aten.unfold.default", {1, 5}, {1, 2, 3},
                  {{"dimension", as_int(1)}, {"size", as_int(3)}, {"step", as_int(2)}}),
              ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_THAT(one("aten.diff.default", {2, 3}, {2, 1}, {{"n", as_int(2)}}), ElementsAre(0, 0));
  EXPECT_THAT(one("aten.ravel.default", {2, 2}, {4}, {}), ElementsAre(0, 1, 2, 3));
}

TEST(Rearrangements, ScatterIntoASlice) {
  const auto scatter = [](const std::string& target, const Shape& part, std::vector<float> data,
                          Arguments more) {
    return results_of(model_of(target, {2, 4}, {2, 4}, std::move(more), "self", part, "src"),
                      {{0, 1, 2, 3, 4, 5, 6, 7}, std::move(data)})[0];
  };
  EXPECT_THAT(scatter("aten.slice_scatter.default", {2, 2}, {-1, -2, -3, -4},
                      {{"dim", as_int(1)}, {"start", as_int(1)}, {"end", as_int(3)}}),
              ElementsAre(0, -1, -2, 3, 4, -3, -4, 7));
  EXPECT_THAT(scatter("aten.slice_scatter.default", {2, 2}, {-1, -2, -3, -4},
                      {{"dim", as_int(1)}, {"step", as_int(2)}}),
              ElementsAre(-1, 1, -2, 3, -3, 5, -4, 7));
  EXPECT_THAT(scatter("aten.select_scatter.default", {2}, {-1, -2},
                      {{"dim", as_int(1)}, {"index", as_int(-1)}}),
              ElementsAre(0, 1, 2, -1, 4, 5, 6, -2));
  EXPECT_THAT(scatter("aten.select_scatter.default", {4}, {-1, -2, -3, -4},
                      {{"dim", as_int(0)}, {"index", as_int(0)}}),
              ElementsAre(-1, -2, -3, -4, 4, 5, 6, 7));
}

// What a detector decodes its boxes with: grids of positions are constants.
TEST(Rearrangements, GridsOfPositions) {
  for (const bool xy : {false, true}) {
    TestModel m;
    m.input("x", xy ? Shape{3, 2} : Shape{2, 3});
    const Shape grid = xy ? Shape{3, 2} : Shape{2, 3};
    m.node("aten.arange.default", {{"a", {2}, kS64}}, {{"end", as_int(2)}});
    m.node("aten.arange.default", {{"b", {3}, kS64}}, {{"end", as_int(3)}});
    m.node("aten.meshgrid.indexing", {{"g", grid, kS64}, {"h", grid, kS64}},
           {{"tensors", {{"as_tensors", {{{"name", "a"}}, {{"name", "b"}}}}}},
            {"indexing", as_text(xy ? "xy" : "ij")}});
    m.node("aten.add.Tensor", {{"y", grid}}, {{"self", as_tensor("x")}, {"other", as_tensor("g")}});
    m.node("aten.add.Tensor", {{"z", grid}}, {{"self", as_tensor("x")}, {"other", as_tensor("h")}});
    m.output("y"), m.output("z");
    EXPECT_EQ(imported(m).nodes.size(), 2u);
    const auto results = results_of(m, {std::vector<float>(6, 0)});
    if (xy) {
      EXPECT_THAT(results[0], ElementsAre(0, 1, 0, 1, 0, 1));
      EXPECT_THAT(results[1], ElementsAre(0, 0, 1, 1, 2, 2));
    } else {
      EXPECT_THAT(results[0], ElementsAre(0, 0, 0, 1, 1, 1));
      EXPECT_THAT(results[1], ElementsAre(0, 1, 2, 0, 1, 2));
    }
  }
}

TEST(Rearrangements, StacksOfOperands) {
  const auto stack = [](const std::string& name, const Shape& in, const Shape& out) {
    TestModel m;
    m.input("x", in), m.input("y", in);
    m.node("aten." + name + ".default", {{"z", out}},
           {{"tensors", {{"as_tensors", {{{"name", "x"}}, {{"name", "y"}}}}}}});
    m.output("z");
    std::vector<float> x(static_cast<size_t>(numel(in)));
    std::iota(x.begin(), x.end(), 0.0f);
    std::vector<float> y(x);
    for (float& v : y) v += 10;
    return results_of(m, {x, y})[0];
  };
  EXPECT_THAT(stack("hstack", {2}, {4}), ElementsAre(0, 1, 10, 11));
  EXPECT_THAT(stack("hstack", {2, 1}, {2, 2}), ElementsAre(0, 10, 1, 11));
  EXPECT_THAT(stack("vstack", {2}, {2, 2}), ElementsAre(0, 1, 10, 11));
  EXPECT_THAT(stack("dstack", {2}, {1, 2, 2}), ElementsAre(0, 10, 1, 11));
  EXPECT_THAT(stack("column_stack", {2}, {2, 2}), ElementsAre(0, 10, 1, 11));
}

TEST(Rearrangements, WindowsAndGridsOfNumbers) {
  const auto made = [](const std::string& target, i64 count, Arguments arguments) {
    TestModel m;
    m.input("x", {count});
    m.node(target, {{"w", {count}}}, arguments);
    m.node("aten.add.Tensor", {{"y", {count}}},
           {{"self", as_tensor("x")}, {"other", as_tensor("w")}});
    m.output("y");
    return results_of(m, {std::vector<float>(static_cast<size_t>(count), 0)})[0];
  };
  expect_near(made("aten.hann_window.default", 6, {{"window_length", as_int(6)}}),
              {0, 0.25f, 0.75f, 1, 0.75f, 0.25f}, "hann");
  expect_near(made("aten.hamming_window.periodic", 6,
                   {{"window_length", as_int(6)}, {"periodic", as_bool(false)}}),
              {0.08f, 0.3978522f, 0.9121479f, 0.9121478f, 0.3978521f, 0.08f}, "hamming");
  expect_near(made("aten.linspace.default", 6,
                   {{"start", as_int(-1)}, {"end", as_int(2)}, {"steps", as_int(6)}}),
              {-1, -0.4f, 0.2f, 0.8f, 1.4f, 2}, "linspace");
}

}  // namespace
}  // namespace deuteron::pt2
