// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

using testing::HasSubstr;

// x + batch_norm(w): weights that a model standardizes, as timm's StdConv2d does.
TestModel standardizing(const std::string& of) {
  TestModel m;
  m.input("x", {1, 3, 4});
  std::vector<float> w;
  for (int k = 0; k < 12; ++k) w.push_back(static_cast<float>((5 * k + 1) % 7 - 3) / 8);
  m.parameter("w", {1, 3, 4}, w);
  m.parameter("gain", {3}, std::vector<float>{0.5f, 1, 2});
  m.node("aten.batch_norm.default", {{"n", {1, 3, 4}}},
         {{"input", as_tensor(of)},
          {"weight", as_tensor("p_gain")},
          {"bias", as_none()},
          {"running_mean", as_none()},
          {"running_var", as_none()},
          {"training", as_bool(true)},
          {"momentum", as_float(0)},
          {"eps", as_float(1e-5)},
          {"cudnn_enabled", as_bool(false)}});
  m.node("aten.add.Tensor", {{"z", {1, 3, 4}}},
         {{"self", as_tensor("x")}, {"other", as_tensor("n")}});
  m.output("z");
  return m;
}

// torch.nn.functional.batch_norm(w, None, None, gain, None, True, 0, 1e-5)
TEST(BatchNorm, StandardizesWeightsByTheirOwnStatistics) {
  expect_near(results_of(standardizing("p_w"), {std::vector<float>(12, 0.0f)}).at(0),
              {-0.5857993f, 0.7159769f, 0.1952664f, -0.3254440f, -1.1715986f, 1.4319538f,
               0.3905329f, -0.6508881f, 2.6831098f, 0.8943700f, -0.8943700f, -2.6831098f},
              "standardized");
}

TEST(BatchNorm, StatisticsOfABatchAreRefused) {
  EXPECT_THAT(refusal_of(standardizing("x")), HasSubstr("[pt2.batch_norm.training]"));
}

// What a decomposition makes of instance norm.
TEST(BatchNorm, StatisticsOfOneImage) {
  TorchCase("aten._native_batch_norm_legit.no_stats")
      .input("input", {1, 3, 4})
      .weight("weight", {3})
      .with("bias", as_none())
      .with("training", as_bool(true))
      .with("momentum", as_float(0.1))
      .with("eps", as_float(1e-5))
      .gives({1, 3, 4},
             {0.32826427f, -0.13130571f, 0.13130571f, -0.32826427f, 0.074999042f, -0.5249933f,
              0.5249933f, -0.074999042f, -0.090361424f, 0.19076301f, 0.030120477f, -0.13052206f});
}

}  // namespace
}  // namespace deuteron::pt2
