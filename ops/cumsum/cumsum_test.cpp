// SPDX-License-Identifier: Apache-2.0
// What Cumsum refuses, and the numbers that its lowering gives to the kernel.
#include "ops/cumsum/cumsum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/cumsum/kernel.h"
#include "ops/all.h"

namespace deuteron {
namespace {

Result<Lowered> lowered(const Cumsum& op, const Type& x, const Type& y,
                        Rounding rounding = Rounding::once) {
  const Type* in[] = {&x};
  const Type* out[] = {&y};
  const Constant* data[] = {nullptr};
  return lower_to_cortex_m(op, {TypeView(in), TypeView(out), data, Isa::mve, rounding});
}
Type s8(Shape shape, float scale, i32 zero) {
  return {DType::s8, std::move(shape), per_tensor(scale, zero)};
}

TEST(Cumsum, RefusesAxesThatAreNotThere) {
  const Type x{DType::f32, {2, 3}, {}};
  const Type* in[] = {&x};
  for (const i64 axis : {0, 1}) EXPECT_TRUE(infer(Cumsum{axis}, TypeView(in))) << axis;
  for (const i64 axis : {-1, 2})
    EXPECT_EQ(infer(Cumsum{axis}, TypeView(in)).why.rule, "cumsum.axis") << axis;
}

// The longest axis whose sums stay within int32; one element more is left to the portable kernel.
TEST(Cumsum, HasItsLimitWhereSumsLeaveInt32) {
  const auto rule = [](i64 length, float x, float y) {
    const auto call = lowered({1}, s8({3, length}, x, -5), s8({3, length}, y, 7));
    return call ? std::string() : call.why.rule + " " + call.why.measured + " " + call.why.limit;
  };
  EXPECT_EQ(rule(8421503, 0.25f, 1), "");
  EXPECT_EQ(rule(8421504, 0.25f, 1), "cortex_m.cumsum.elements 8421504 8421503");
  EXPECT_EQ(rule(4210751, 1, 1), "");  // factor 1 is 2^30 * 2^(1 - 31)
  EXPECT_EQ(rule(4210752, 1, 1), "cortex_m.cumsum.elements 4210752 4210751");
  EXPECT_EQ(rule(2, 1048576, 1), "");
  EXPECT_EQ(rule(5, 1048576, 1), "cortex_m.cumsum.elements 5 4");
}

TEST(Cumsum, GivesTheKernelTheWholeFactor) {
  const auto call = lowered({2}, s8({2, 3, 5}, 0.5f, -7), s8({2, 3, 5}, 4, 11));
  ASSERT_TRUE(call);
  const auto& args = call->call.args;
  EXPECT_EQ(call->call.name, "deuteron::cumsum");
  EXPECT_EQ(args[1].integer, 2);
  EXPECT_EQ(args[2].integer, -7);
  EXPECT_EQ(args[3].integer, 11);
  EXPECT_EQ(static_cast<double>(args[4].integer) *
                std::ldexp(1.0, static_cast<int>(args[5].integer) - 31),
            0.125);
}

// The float operator on what the steps mean, and the kernel: between them is one rounding to a step
// of the result, and before it one to the bits that the shift then takes away.
TEST(Cumsum, IsTheFloatOperatorRoundedToSteps) {
  const Shape shape{3, 50, 2};
  const Type x = s8(shape, 0.037f, -21), y = s8(shape, 0.31f, 9), in_float{DType::f32, shape, {}};
  const auto call = lowered({1}, x, y);
  ASSERT_TRUE(call);
  std::mt19937 random(3);
  std::vector<int8_t> steps(static_cast<size_t>(x.elements())), result(steps.size());
  std::vector<float> real(steps.size()), expected(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
    real[i] = 0.037f * static_cast<float>(steps[i] + 21);
  }
  const HostTensor in[] = {{&in_float, real.data()}}, out[] = {{&in_float, expected.data()}};
  execute(Cumsum{1}, in, out);
  const auto number = [&](size_t i) { return static_cast<i32>(call->call.args[i].integer); };
  cumsum_s8({3, 50, 2, number(2), number(3), number(4), number(5)}, steps.data(), result.data());
  for (size_t i = 0; i < steps.size(); ++i) {
    const double exact = std::clamp(expected[i] / 0.31 + 9, -128.0, 127.0);
    EXPECT_LE(std::abs(result[i] - exact), 0.5 + std::ldexp(0.5, number(5)) + 1e-4) << i;
  }
}

}  // namespace
}  // namespace deuteron
