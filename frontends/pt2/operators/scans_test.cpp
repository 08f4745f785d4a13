// SPDX-License-Identifier: Apache-2.0
// Running products and extremes. The numbers are those of torch 2.13.
#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using testing::ElementsAre;

const std::vector<float> kScanned{1, -2, 3, 0.5f, 4, -1};

std::vector<float> extremes(const std::string& target, i64 axis) {
  TestModel m;
  m.input("x", {2, 3});
  m.node(target, {{"v", {2, 3}}, {"i", {2, 3}, kS64}},
         {{"self", as_tensor("x")}, {"dim", as_int(axis)}});
  m.output("v");
  return results_of(m, {kScanned})[0];
}

TEST(Scans, EachElementTakesInThoseBeforeIt) {
  const auto products = [](i64 axis) {
    return results_of(model_of("aten.cumprod.default", {2, 3}, {2, 3}, {{"dim", as_int(axis)}}),
                      {kScanned})[0];
  };
  EXPECT_THAT(products(0), ElementsAre(1, -2, 3, 0.5f, -8, -3));
  EXPECT_THAT(products(-1), ElementsAre(1, -2, -6, 0.5f, 2, -2));
  EXPECT_THAT(extremes("aten.cummax.default", 1), ElementsAre(1, 1, 3, 0.5f, 4, 4));
  EXPECT_THAT(extremes("aten.cummin.default", 0), ElementsAre(1, -2, 3, 0.5f, -2, -1));
}

TEST(Scans, AnyExtentAgainstALoop) {
  for (i64 count = 1; count <= 17; ++count) {
    std::vector<float> x, expected;
    for (i64 k = 0; k < count; ++k) x.push_back(1 + static_cast<float>((k * 7) % 5 - 2) / 4);
    for (float all = 1; const float v : x) expected.push_back(all *= v);
    expect_near(results_of(model_of("aten.cumprod.default", {count}, {count}, {{"dim", as_int(0)}}),
                           {x})[0],
                expected, std::to_string(count));
    if (count <= 16)
      expect_near(results_of(model_of("aten.prod.default", {count}, {}, {}), {x})[0],
                  {expected.back()}, "prod");
  }
}

TEST(Scans, ProductsOfAnAxisKeepItOrNot) {
  EXPECT_THAT(
      results_of(model_of("aten.prod.dim_int", {2, 3}, {2}, {{"dim", as_int(1)}}), {kScanned})[0],
      ElementsAre(-6, -2));
  EXPECT_THAT(results_of(model_of("aten.prod.dim_int", {2, 3}, {1, 3},
                                  {{"dim", as_int(0)}, {"keepdim", as_bool(true)}}),
                         {kScanned})[0],
              ElementsAre(0.5f, -8, -3));
}

TEST(Scans, ExtremesOfBothKinds) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.aminmax.default", {{"low", {2, 1}}, {"high", {2, 1}}},
         {{"self", as_tensor("x")}, {"dim", as_int(1)}, {"keepdim", as_bool(true)}});
  m.output("low"), m.output("high");
  const auto found = results_of(m, {kScanned});
  EXPECT_THAT(found[0], ElementsAre(-2, -1));
  EXPECT_THAT(found[1], ElementsAre(3, 4));
}

TEST(Scans, PositionsAndLongProductsAreRefused) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.cummax.default", {{"v", {2, 3}}, {"i", {2, 3}, kS64}},
         {{"self", as_tensor("x")}, {"dim", as_int(1)}});
  m.output("i");
  EXPECT_THAT(refusal_of(m), testing::HasSubstr("pt2.scan.positions"));
  EXPECT_THAT(refusal_of(model_of("aten.prod.default", {17}, {}, {})),
              testing::HasSubstr("pt2.prod.count"));
}

TEST(Scans, LogarithmsOfRunningSums) {
  const std::vector<float> x = {-1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0};
  expect_near(
      results_of(model_of("aten.logcumsumexp.default", {2, 4}, {2, 4}, {{"dim", as_int(1)}}),
                 {x})[0],
      {-1.25f, 0.66022414f, 0.93285549f, 1.7970952f, 0.25f, 0.56326169f, 1.4984335f, 1.7001327f},
      "logcumsumexp");
}

}  // namespace
}  // namespace deuteron::pt2
