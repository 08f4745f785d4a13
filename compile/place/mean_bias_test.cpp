// SPDX-License-Identifier: Apache-2.0
#include "compile/place/mean_bias.h"

#include <cmath>
#include <random>

#include "compile/calibrate/test_graph.h"
#include "kernels/integer/requantize.h"
#include "ops/reduce/multiplier.h"
#include "ops/reduce/rounding.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace deuteron {
namespace {

// mean over 36 positions -> view -> linear, of int8
struct MeanAndLayer {
  TestGraph t;
  ValueId b;
  explicit MeanAndLayer(i32 x_zero, float x_scale = 2) {
    Graph& g = t.g;
    const auto value = [&](const char* name, Shape shape, float scale, i32 zero) {
      return g.add_value(name, Type{DType::s8, std::move(shape), per_tensor(scale, zero)});
    };
    const ValueId x = value("x", {1, 6, 6, 2}, x_scale, x_zero),
                  m = value("m", {1, 1, 1, 2}, 1, -128);
    const ValueId v = value("v", {1, 2}, 1, -128), y = value("y", {1, 2}, 1, 0);
    const ValueId w = g.add_value("w", Type{DType::s8, {2, 2}, per_tensor(1, 0)},
                                  constant_of(std::vector<int8_t>{100, 60, -40, -8}));
    b = g.add_value("b", Type{DType::s32, {2}, per_tensor(1, 0)},
                    constant_of(std::vector<i32>{1000, 1000}));
    g.inputs.push_back({x, "x", {0, 1, 2, 3}});
    g.nodes.push_back({Reduce{.fn = Reduce::kMean, .axes = {1, 2}}, {x}, {m}, {0}});
    g.nodes.push_back({Reshape{{1, 2}}, {m}, {v}, {0}});
    g.nodes.push_back({Linear{}, {v, w, b}, {y}, {0}});
    g.outputs.push_back({y, "y", {0, 1}});
  }
  std::vector<i32> bias() const {
    const std::span<const i32> data = t.g.values[b].constant->as<i32>();
    return {data.begin(), data.end()};
  }
};

// Scale 2 / 1 over 36: TFLite's multiplier is 0.444 of 2^-3, so that one result in 16 is a step too
// large.
TEST(MeanBias, TheLayerBehindTakesItOut) {
  MeanAndLayer f(-128);
  EXPECT_EQ(excess_of_sum(f.t.g, f.t.g.nodes[0]), 1.0 / 16);
  EXPECT_EQ(correct_biases_behind_means(f.t.g), 1);
  EXPECT_EQ(f.bias(), (std::vector<i32>{1000 - 10, 1000 + 3}));
}

TEST(MeanBias, NumbersOnBothSidesOfZeroCancelOut) {
  MeanAndLayer f(-3);
  EXPECT_EQ(correct_biases_behind_means(f.t.g), 0);
  EXPECT_EQ(f.bias(), (std::vector<i32>{1000, 1000}));
}

// What the kernel gives in the mean of many sums. Scales are such that sums lie anywhere between
// two steps.
TEST(MeanBias, IsWhatTheRoundingMakes) {
  for (const i64 count : {3, 8, 36, 125})
    for (const float scale : {0.7071f, 2.1371f, 5.3311f}) {
      const Quant x = per_tensor(scale, -128), y = per_tensor(1, -128);
      const Op mean = Reduce{.fn = Reduce::kMean, .axes = {1}};
      const double excess =
          excess_of_sum(mean, Type{DType::s8, {1, count}, x}, Type{DType::s8, {1, 1}, y});
      const auto m = *reduce_multiplier(x, y, count, Ties::away, "");
      double sum = 0, n = 0;
      for (i32 acc = 0; acc < 2000 * static_cast<i32>(count); ++acc) {
        sum += requantize(acc, m.value, m.shift) -
               static_cast<double>(scale) * acc / static_cast<double>(count);
        ++n;
      }
      EXPECT_NEAR(sum / n, excess, 0.01) << count << " " << scale;
    }
}

// Numbers between two steps are rounded, added up and rounded as the NPU does, or once.
TEST(MeanBias, NoiseOfTheExcessIsAtMostWhatIsTold) {
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> any(-100, 100);
  const Op sum = Reduce{.fn = Reduce::kSum, .axes = {1}};
  for (const i64 count : {4, 8, 16, 32})
    for (const float scale : {0.13f, 0.27f, 0.4f}) {
      const Quant x = per_tensor(scale, 0), y = per_tensor(1, 0);
      const auto m = *reduce_multiplier(x, y, 1, Ties::away, "");
      double npu = 0, once = 0;
      for (int n = 0; n < 20000; ++n) {
        double exact = 0, steps = 0;
        for (i64 k = 0; k < count; ++k) {
          const double v = any(random);
          exact += v * static_cast<double>(scale), steps += std::nearbyint(v);
        }
        npu += std::pow(requantize(static_cast<i32>(steps), m.value, m.shift) - exact, 2);
        once += std::pow(std::nearbyint(steps * static_cast<double>(scale)) - exact, 2);
      }
      const double measured = 10 * std::log10(npu / once);
      const double told =
          noise_of_excess_db(sum, Type{DType::s8, {1, count}, x}, Type{DType::s8, {1, 1}, y});
      EXPECT_LT(measured, told + 0.2) << count << " " << scale;
      EXPECT_GT(measured, told - 0.5) << count << " " << scale;
    }
}

}  // namespace
}  // namespace deuteron
