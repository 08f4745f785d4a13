// SPDX-License-Identifier: Apache-2.0
// The numbers are those of torch 2.13 for x = -3, -1.25, -0.5, 0, 0.75, 2.5.
#include <cmath>

#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

const std::vector<float> kX{-3, -1.25f, -0.5f, 0, 0.75f, 2.5f}, kY{1, 2, -1, 0.5f, -2, 3};

TEST(Compositions, FunctionsOfOneValue) {
  struct Case {
    std::string target;
    Arguments more;
    std::vector<float> expected;
  };
  const std::vector<Case> cases{
      {"mish", {}, {-0.1456475f, -0.3084139f, -0.2207438f, 0, 0.6100184f, 2.471392f}},
      {"selu", {}, {-1.670569f, -1.254395f, -0.6917582f, 0, 0.7880257f, 2.626753f}},
      {"celu", {{"alpha", as_float(0.5)}}, {-0.4987606f, -0.4589575f, -0.3160603f, 0, 0.75f, 2.5f}},
      {"softplus",
       {{"beta", as_float(2)}, {"threshold", as_float(15)}},
       {0.001237843f, 0.03944487f, 0.1566308f, 0.3465736f, 0.8507066f, 2.503358f}},
      {"softplus",
       {{"beta", as_float(2)}, {"threshold", as_float(1)}},
       {0.001237843f, 0.03944487f, 0.1566308f, 0.3465736f, 0.75f, 2.5f}},
      {"sinc", {}, {0, -0.1800633f, 0.6366197f, 1, 0.3001054f, 0.1273240f}},
      {"log_sigmoid",
       {},
       {-3.048587f, -1.501929f, -0.974077f, -0.6931472f, -0.386871f, -0.07888974f}},
      {"hardshrink", {}, {-3, -1.25f, 0, 0, 0.75f, 2.5f}},
      {"softshrink", {{"lambd", as_float(0.75)}}, {-2.25f, -0.5f, 0, 0, 0, 1.75f}},
      {"threshold",
       {{"threshold", as_float(-0.5)}, {"value", as_int(7)}},
       {7, 7, 7, 0, 0.75f, 2.5f}},
      {"rrelu", {}, {-0.6875f, -0.2864583f, -0.1145833f, 0, 0.75f, 2.5f}},
      {"exp2", {}, {0.125f, 0.4204482f, 0.7071068f, 1, 1.681793f, 5.656854f}},
      {"erfc", {}, {1.999978f, 1.9229f, 1.5205f, 1, 0.2888444f, 0.000406952f}},
      {"frac", {}, {0, -0.25f, -0.5f, 0, 0.75f, 0.5f}},
      {"deg2rad", {}, {-0.05235988f, -0.02181662f, -0.008726646f, 0, 0.01308997f, 0.04363323f}},
      {"absolute", {}, {3, 1.25f, 0.5f, 0, 0.75f, 2.5f}},
      {"negative", {}, {3, 1.25f, 0.5f, 0, -0.75f, -2.5f}},
      {"rad2deg", {}, {-171.8873f, -71.61973f, -28.64789f, 0, 42.97184f, 143.2395f}},
      {"special_ndtr", {}, {0.001349896f, 0.1056498f, 0.3085375f, 0.5f, 0.7733727f, 0.9937903f}},
  };
  for (const Case& c : cases)
    expect_near(
        results_of(model_of("aten." + c.target + ".default", {2, 3}, {2, 3}, c.more), {kX})[0],
        c.expected, c.target);
  expect_near(
      results_of(model_of("aten.pow.Scalar", {6}, {6}, {{"self", as_float(1.5)}}, "exponent"),
                 {kX})[0],
      {0.2962963f, 0.6024013f, 0.8164966f, 1, 1.355403f, 2.755676f}, "pow");
  expect_near(results_of(model_of("aten.div.Tensor_mode", {6}, {6},
                                  {{"other", as_int(2)}, {"rounding_mode", as_text("floor")}}),
                         {kX})[0],
              {-2, -1, -1, 0, 0, 1}, "floor");
  expect_near(results_of(model_of("aten.div.Tensor_mode", {6}, {6},
                                  {{"other", as_int(2)}, {"rounding_mode", as_text("trunc")}}),
                         {kX})[0],
              {-1, 0, 0, 0, 0, 1}, "trunc");
  expect_near(
      results_of(model_of("aten.floor_divide.default", {6}, {6}, {{"other", as_float(0.5)}}),
                 {kX})[0],
      {-6, -3, -1, 0, 1, 5}, "//");
}

TEST(Compositions, ArithmeticInSeveralSteps) {
  const auto pair = [](const std::string& target, const std::string& y, Arguments more = {},
                       const std::string& x = "self") {
    return results_of(model_of(target, {2, 3}, {2, 3}, std::move(more), x, {2, 3}, y), {kX, kY})[0];
  };
  expect_near(pair("aten.lerp.Scalar", "end", {{"weight", as_float(0.25)}}),
              {-2, -0.4375f, -0.625f, 0.125f, 0.0625f, 2.625f}, "lerp");
  expect_near(pair("aten.addcmul.default", "tensor1",
                   {{"tensor2", as_tensor("x")}, {"value", as_float(0.5)}}),
              {-4.5f, -2.5f, -0.25f, 0, 0, 6.25f}, "addcmul");
  expect_near(pair("aten.hypot.default", "other"),
              {3.162278f, 2.358495f, 1.118034f, 0.5f, 2.136001f, 3.905125f}, "hypot");
  expect_near(pair("aten.logaddexp.default", "other"),
              {1.01815f, 2.038041f, -0.02592301f, 0.974077f, 0.8119676f, 3.474077f}, "logaddexp");
  expect_near(pair("aten.logaddexp2.default", "other"),
              {1.087463f, 2.144193f, 0.2715533f, 1.271553f, 0.9499404f, 3.771553f}, "logaddexp2");
  expect_near(pair("aten.ldexp.Tensor", "other"), {-6, -5, -0.25f, 0, 0.1875f, 20}, "ldexp");
  expect_near(pair("aten.fmin.default", "other"), {-3, -1.25f, -1, 0, -2, 2.5f}, "fmin");
  const std::vector<float> positive{1, 2, 1, 0.5f, 2, 3};
  const auto of_positive = [&](const std::string& target) {
    return results_of(model_of(target, {2, 3}, {2, 3}, {}, "self", {2, 3}, "other"),
                      {kX, positive})[0];
  };
  expect_near(of_positive("aten.xlogy.Tensor"), {0, -0.866434f, 0, 0, 0.5198604f, 2.746531f},
              "xlogy");
  expect_near(of_positive("aten.special_xlog1py.default"),
              {-2.079442f, -1.373265f, -0.3465736f, 0, 0.8239592f, 3.465736f}, "xlog1py");
  const std::vector<float> finer{-3.09f, -1.2875f, -0.515f, 0, 0.7725f, 2.575f};
  expect_near(
      results_of(model_of("aten.round.decimals", {6}, {6}, {{"decimals", as_int(1)}}), {finer})[0],
      {-3.1f, -1.3f, -0.5f, 0, 0.8f, 2.6f}, "round");
  expect_near(pair("aten.clamp.Tensor", "max"), {-3, -1.25f, -1, 0, -2, 2.5f}, "clamp");
  TestModel m;
  m.input("x", {2, 3}), m.input("y", {2, 3});
  m.node("aten.addcdiv.default", {{"z", {2, 3}}},
         {{"self", as_tensor("x")},
          {"tensor1", as_tensor("x")},
          {"tensor2", as_tensor("y")},
          {"value", as_float(0.5)}});
  m.output("z");
  expect_near(results_of(m, {kX, kY})[0], {-4.5f, -1.5625f, -0.25f, 0, 0.5625f, 2.916667f},
              "addcdiv");
}

TEST(Compositions, RefuseWhatTheyDoNotCompute) {
  EXPECT_THAT(refusal_of(model_of("aten.celu.default", {6}, {6}, {{"alpha", as_int(0)}})),
              testing::HasSubstr("pt2.argument.range"));
  EXPECT_THAT(refusal_of(model_of("aten.rrelu.default", {6}, {6}, {{"training", as_bool(true)}})),
              testing::HasSubstr("pt2.dropout.training"));
}

TEST(Distances, NormsAndAngles) {
  const auto norm = [](double order, i64 axis, const Shape& out, bool keep = false) {
    return results_of(
        model_of("aten.linalg_vector_norm.default", {2, 3}, out,
                 {{"ord", std::isinf(order) ? json{{"as_float", "Infinity"}} : as_float(order)},
                  {"dim", as_ints({axis})},
                  {"keepdim", as_bool(keep)}}),
        {kX})[0];
  };
  expect_near(norm(2, 1, {2}), {3.288237f, 2.610077f}, "2");
  expect_near(norm(1, -1, {2, 1}, true), {4.75f, 3.25f}, "1");
  expect_near(norm(INFINITY, 0, {3}), {3, 1.25f, 2.5f}, "inf");
  EXPECT_THAT(
      refusal_of(model_of("aten.linalg_vector_norm.default", {2, 3}, {}, {{"ord", as_float(0)}})),
      testing::HasSubstr("pt2.norm.order"));
  expect_near(
      results_of(model_of("aten.logsumexp.default", {2, 3}, {2}, {{"dim", as_ints({1})}}), {kX})[0],
      {-0.05887726f, 2.72782f}, "lse");
  const auto pair = [](const std::string& target, const Shape& out, Arguments more = {}) {
    return results_of(model_of(target, {2, 3}, out, std::move(more), "x1", {2, 3}, "x2"),
                      {kX, kY})[0];
  };
  expect_near(pair("aten.cosine_similarity.default", {2}), {-0.6207708f, 0.6315243f}, "cosine");
  expect_near(pair("aten.pairwise_distance.default", {2}), {5.178078f, 2.839455f}, "pairwise");
  expect_near(pair("aten.cdist.default", {2, 2}), {5.178079f, 5.006246f, 3.848701f, 2.839454f},
              "cdist");
}

// weight_norm of a linear layer: the weight is made of constants.
TEST(Distances, WeightNormIsAConstant) {
  TestModel m;
  m.input("x", {1, 3});
  m.parameter("g", {2, 1}, std::vector<float>{3, 10});
  m.parameter("v", {2, 3}, std::vector<float>{1, 2, 2, 0, 3, 4});
  m.node("aten._weight_norm_interface.default", {{"w", {2, 3}}, {"n", {2, 1}}},
         {{"v", as_tensor("p_v")}, {"g", as_tensor("p_g")}});
  m.node("aten.linear.default", {{"z", {1, 2}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("w")}});
  m.output("z");
  expect_near(results_of(m, {{1, 10, 100}})[0], {221, 860}, "weight_norm");
}

TEST(Distances, ExtremesWithoutPositionsAreReductions) {
  const auto most = [](bool positions) {
    TestModel m;
    m.input("x", {2, 3});
    m.node("aten.max.dim", {{"v", {2}}, {"i", {2}, kS64}},
           {{"self", as_tensor("x")}, {"dim", as_int(1)}});
    m.output("v");
    if (positions) m.output("i");
    return imported(m);
  };
  EXPECT_TRUE(std::holds_alternative<Reduce>(most(false).nodes.at(0).op));
  EXPECT_TRUE(std::holds_alternative<KernelCall>(most(true).nodes.at(0).op));
}

TEST(Compositions, EluWithFactors) {
  const auto elu = [](double scale) {
    return TorchCase("aten.elu.default")
        .input("self", {6})
        .with("alpha", as_float(1.5))
        .with("scale", as_float(scale))
        .with("input_scale", as_float(0.5));
  };
  elu(2).gives({6}, {-1.3942157f, 1, -0.66359764f, 2.5f, 0.5f, -0.93813211f});
  elu(0.5).gives({6}, {-0.34855393f, 0.25f, -0.16589941f, 0.625f, 0.125f, -0.23453303f});
}

TEST(Distances, OfAnyOrder) {
  TorchCase("aten.linalg_vector_norm.default")
      .input("self", {3, 4})
      .with("ord", as_float(3))
      .with("dim", as_ints({1}))
      .gives({3}, {1.6078069f, 1.1285894f, 1.5023112f});
  TorchCase("aten.linalg_vector_norm.default")
      .input("self", {3, 4})
      .with("ord", as_float(0.5))
      .with("dim", as_ints({0}))
      .gives({4}, {6.8541017f, 5.9494891f, 4.8713207f, 5});
  TorchCase("aten.cdist.default")
      .input("x1", {3, 2})
      .input("x2", {2, 2})
      .with("p", as_float(3))
      .gives({3, 2}, {0.94494081f, 1.746592f, 0, 2.0345557f, 2.0345557f, 0});
  TorchCase("aten.dist.default")
      .input("self", {2, 3})
      .input("other", {2, 3})
      .gives({}, {2.6100767f});
}

TEST(Distances, OfEachRowFromThoseBehindIt) {
  TorchCase("aten.pdist.default")
      .input("self", {4, 3})
      .gives({6}, {2.5248761f, 2.3584952f, 2.2638464f, 0.43301269f, 0.86602539f, 0.43301269f});
  TorchCase("aten._pdist_forward.default")
      .input("self", {4, 3})
      .with("p", as_float(1))
      .gives({6}, {3, 3.25f, 3.5f, 0.75f, 1.5f, 0.75f});
}

TEST(Distances, SlicesAreMadeShorter) {
  TorchCase("aten.renorm.default")
      .input("self", {3, 4})
      .with("p", as_float(2))
      .with("dim", as_int(0))
      .with("maxnorm", as_float(1.5))
      .gives({3, 4}, {-0.98479813f, 0.39391926f, -0.39391926f, 0.98479813f, 0.25f, -0.75f, 1, 0,
                      -0.840168f, 0.630126f, -0.210042f, -1.05021f});
  TorchCase("aten.renorm.default")
      .input("self", {2, 3})
      .with("p", as_float(1))
      .with("dim", as_int(1))
      .with("maxnorm", as_float(0.5))
      .gives({2, 3}, {-0.25f, 0.33333328f, -0.19999999f, 0.25f, 0.16666664f, -0.29999998f});
}

TEST(Reductions, LeaveOutWhatIsNoNumber) {
  const std::vector<float> x = {1, NAN, 2.5f, NAN, -1, 0.5f};
  expect_near(
      results_of(model_of("aten.nansum.default", {2, 3}, {2}, {{"dim", as_ints({1})}}), {x})[0],
      {3.5f, -0.5f}, "nansum");
  expect_near(results_of(model_of("aten.nansum.default", {2, 3}, {}), {x})[0], {3}, "nansum");
  expect_near(results_of(model_of("aten.nanmean.default", {2, 3}, {2, 1},
                                  {{"dim", as_ints({1})}, {"keepdim", as_bool(true)}}),
                         {x})[0],
              {1.75f, -0.25f}, "nanmean");
}

}  // namespace
}  // namespace deuteron::pt2
