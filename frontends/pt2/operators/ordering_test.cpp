// SPDX-License-Identifier: Apache-2.0
// Sorting, its positions, and elements by their rank, as torch has them.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

using ::testing::ElementsAre;

const std::vector<float> kUnordered{3, 1, 2, 1, -4, 7};  // [2,3]

std::vector<std::vector<float>> two_results(const std::string& target, const Shape& out,
                                            const Arguments& more) {
  TestModel m;
  m.input("x", {2, 3});
  Arguments arguments{{"self", as_tensor("x")}};
  arguments.insert(arguments.end(), more.begin(), more.end());
  m.node(target, {{"v", out}, {"p", out, kS64}}, arguments);
  m.output("v"), m.output("p");
  return results_of(m, {kUnordered});
}

TEST(Ordering, SortsAlongAnAxis) {
  const auto rows = two_results("aten.sort.default", {2, 3}, {{"dim", as_int(1)}});
  EXPECT_THAT(rows[0], ElementsAre(1, 2, 3, -4, 1, 7));
  EXPECT_THAT(rows[1], ElementsAre(1, 2, 0, 1, 0, 2));
  const auto columns =
      two_results("aten.sort.stable", {2, 3},
                  {{"stable", as_bool(true)}, {"dim", as_int(0)}, {"descending", as_bool(true)}});
  EXPECT_THAT(columns[0], ElementsAre(3, 1, 7, 1, -4, 2));
  EXPECT_THAT(columns[1], ElementsAre(0, 0, 1, 1, 1, 0));
}

TEST(Ordering, EqualElementsKeepTheirOrder) {
  TestModel m;
  m.input("x", {4});
  m.node("aten.argsort.default", {{"p", {4}, kS64}},
         {{"self", as_tensor("x")}, {"dim", as_int(-1)}, {"descending", as_bool(true)}});
  m.node("aten.msort.default", {{"v", {4}}}, {{"self", as_tensor("x")}});
  m.output("p"), m.output("v");
  const auto results = results_of(m, {{5, 2, 5, 2}});
  EXPECT_THAT(results[0], ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(results[1], ElementsAre(2, 2, 5, 5));
}

TEST(Ordering, FindsElementsByTheirRank) {
  const auto second =
      two_results("aten.kthvalue.default", {2}, {{"k", as_int(2)}, {"dim", as_int(1)}});
  EXPECT_THAT(second[0], ElementsAre(2, 1));
  EXPECT_THAT(second[1], ElementsAre(2, 0));
  const auto middle =
      two_results("aten.median.dim", {1, 3},
                  {{"dim", as_int(0)}, {"keepdim", as_bool(true)}});  // the lower one of two
  EXPECT_THAT(middle[0], ElementsAre(1, -4, 2));
  EXPECT_THAT(middle[1], ElementsAre(1, 1, 0));
  EXPECT_THAT(results_of(model_of("aten.median.default", {2, 3}, {}), {kUnordered})[0],
              ElementsAre(1));
}

TEST(Ordering, QuantilesLieBetweenElements) {
  const auto of_rows = [](double q, const std::string& between) {
    return TorchCase("aten.quantile.scalar")
        .input("self", {2, 5})
        .with("q", as_float(q))
        .with("dim", as_int(1))
        .with("interpolation", as_text(between));
  };
  of_rows(0.3, "linear").gives({2}, {-0.35f, -0.6f});
  of_rows(0.3, "lower").gives({2}, {-0.5f, -0.75f});
  of_rows(0.3, "higher").gives({2}, {0.25f, 0});
  of_rows(0.3, "midpoint").gives({2}, {-0.125f, -0.375f});
  of_rows(0.6, "nearest").gives({2}, {0.25f, 0});
  of_rows(1, "linear").gives({2}, {1.25f, 1});
  TorchCase("aten.quantile.scalar")
      .input("self", {2, 5})
      .with("q", as_float(0.85))
      .gives({}, {0.9125f});
  TorchCase("aten.quantile.scalar")
      .input("self", {2, 5})
      .with("q", as_float(0.1))
      .with("dim", as_int(0))
      .with("keepdim", as_bool(true))
      .gives({1, 5}, {-1.2f, 0.55f, -0.45f, -0.775f, 0.3f});
  TorchCase("aten.quantile.default")
      .input("self", {2, 5})
      .constant("q", {2}, std::vector<float>{0.25f, 0.9f}, kF32)
      .with("dim", as_int(0))
      .gives({2, 5},
             {-1.125f, 0.625f, -0.375f, -0.4375f, 0.375f, -0.8f, 0.95f, -0.05f, 1.025f, 0.7f});
}

}  // namespace
}  // namespace deuteron::pt2
