// SPDX-License-Identifier: Apache-2.0
// What LayerNorm refuses, and the numbers that its lowering gives to the kernel.
#include "ops/layer_norm/layer_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/layer_norm/kernel.h"
#include "ops/all.h"

namespace deuteron {
namespace {

Type s8(Shape shape, float scale, i32 zero) {
  return {DType::s8, std::move(shape), per_tensor(scale, zero)};
}
Type f32(Shape shape) { return {DType::f32, std::move(shape), {}}; }

std::string rule_of(const LayerNorm& op, std::vector<Type> types) {
  std::vector<const Type*> in;
  for (const Type& t : types) in.push_back(&t);
  const auto result = infer(op, TypeView(in));
  return result ? "" : result.why.rule;
}

TEST(LayerNorm, RefusesWhatIsNoSlice) {
  EXPECT_EQ(rule_of({2}, {f32({4, 2, 3}), f32({2, 3}), f32({2, 3})}), "");
  EXPECT_EQ(rule_of({0}, {f32({4, 3})}), "layer_norm.axes");
  EXPECT_EQ(rule_of({3}, {f32({4, 3})}), "layer_norm.axes");
  EXPECT_EQ(rule_of({1}, {f32({4, 3}), f32({4})}), "layer_norm.shape");
  EXPECT_EQ(rule_of({2}, {f32({4, 2, 3}), f32({6})}), "layer_norm.shape");
  EXPECT_EQ(rule_of({1, -1e-3f}, {f32({4, 3})}), "layer_norm.epsilon");
  EXPECT_EQ(rule_of({1, std::nanf("")}, {f32({4, 3})}), "layer_norm.epsilon");
  EXPECT_EQ(rule_of({1}, {f32({4, 3}), f32({3}), f32({4})}), "layer_norm.shape");
  EXPECT_EQ(rule_of({1}, {f32({4, 3}), f32({3}), f32({3}), f32({3})}), "layer_norm.operands");
}

struct Lowering {
  Type x, y;
  std::vector<float> weight, bias;
  Result<Lowered> call;
};
Lowering lowered(const LayerNorm& op, Type x, Type y, std::vector<float> weight,
                 std::vector<float> bias) {
  const Shape slice{static_cast<i64>(weight.size())};
  const Type number = f32(slice);
  const Constant w = constant_of(weight), b = constant_of(bias);
  const Type* in[] = {&x, &number, &number};
  const Type* out[] = {&y};
  const Constant* data[] = {nullptr, &w, &b};
  auto call = lower_to_cortex_m(op, {TypeView(in), TypeView(out), data, Isa::mve});
  return {x, y, weight, bias, std::move(call)};
}

TEST(LayerNorm, RefusesWhatTheKernelCannotHold) {
  const auto rule = [](i64 columns, float epsilon, float x, float weight, float y) {
    const auto n = static_cast<size_t>(columns);
    const auto l = lowered({1, epsilon}, s8({2, columns}, x, 3), s8({2, columns}, y, 3),
                           std::vector<float>(n, weight), std::vector<float>(n, 0));
    return l.call ? "" : l.call.why.rule;
  };
  EXPECT_EQ(rule(32768, 1e-5f, 0.1f, 1, 0.1f), "");
  EXPECT_EQ(rule(32769, 1e-5f, 0.1f, 1, 0.1f), "cortex_m.layer_norm.elements");
  EXPECT_EQ(rule(16, 1e5f, 1e-5f, 1, 0.1f), "");
  EXPECT_EQ(rule(16, 1e5f, 1e-6f, 1, 0.1f), "cortex_m.layer_norm.epsilon");
  EXPECT_EQ(rule(16, 1e-5f, 0.1f, 0, 0.1f), "");
  EXPECT_EQ(rule(16, 1e-5f, 0.1f, 1e9f, 1), "");
  EXPECT_EQ(rule(16, 1e-5f, 0.1f, 1e9f, 0.5f), "cortex_m.layer_norm.scale");
}

// The float operator on what the steps mean, and the kernel. Between them is one rounding to a step
// of the result. Before it the deviation is rounded to 2^-20 and its factor to 30 bits, weight and
// bias to half of 2^-shift steps; epsilon to half of its unit counts for nothing here.
TEST(LayerNorm, IsTheFloatOperatorRoundedToSteps) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const i64 columns : {2, 16, 197})
    for (const bool centered : {true, false}) {
      const LayerNorm op{1, 1e-5f, centered};
      std::vector<float> weight, bias;
      for (i64 i = 0; i < columns; ++i)
        weight.push_back(normal(random)), bias.push_back(normal(random) / 3);
      const Lowering l =
          lowered(op, s8({31, columns}, 0.037f, -21), s8({31, columns}, 0.031f, 9), weight, bias);
      ASSERT_TRUE(l.call) << l.call.why.rule;
      std::vector<int8_t> steps(static_cast<size_t>(31 * columns)), result(steps.size());
      std::vector<float> real(steps.size()), expected(steps.size());
      for (size_t i = 0; i < steps.size(); ++i) {
        steps[i] = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
        real[i] = 0.037f * static_cast<float>(steps[i] + 21);
      }
      const Type in_float = f32(l.x.shape), slice = f32({columns});
      const HostTensor in[] = {{&in_float, real.data()},
                               {&slice, weight.data()},
                               {&slice, bias.data()}},
                       out[] = {{&in_float, expected.data()}};
      execute(op, in, out);
      const auto number = [&](size_t i) { return l.call->call.args[i].integer; };
      layer_norm_s8({31, static_cast<int32_t>(columns), static_cast<int32_t>(number(3)),
                     static_cast<int32_t>(number(4)), static_cast<int32_t>(number(6)),
                     static_cast<int32_t>(number(8)), number(7), centered},
                    steps.data(), l.call->constants[0].data.as<i32>().data(),
                    l.call->constants[1].data.as<i32>().data(), result.data());
      const double largest_norm = std::sqrt(static_cast<double>(columns)),
                   unit = std::ldexp(1.0, -static_cast<int>(number(8)));
      for (size_t i = 0; i < steps.size(); ++i) {
        const double w = std::abs(weight[i % static_cast<size_t>(columns)]) / 0.031;
        const double exact = std::clamp(expected[i] / 0.031 + 9, -128.0, 127.0);
        const double bound = 0.5 + w * (0x1p-21 + largest_norm * 0x1p-29) +
                             (largest_norm + 1) * unit / 2 + 1e-4;  // 1e-4: float32
        EXPECT_LE(std::abs(result[i] - exact), bound) << columns << " columns, element " << i;
      }
    }
}

}  // namespace
}  // namespace deuteron
