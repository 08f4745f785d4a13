// What Matmul refuses, and the numbers that its lowering gives to the kernel.
#include "ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/all.h"

namespace deuteron {
namespace {

Type s8(Shape shape, float scale, i32 zero) { return {DType::s8, std::move(shape), per_tensor(scale, zero)}; }

Result<Lowered> lowered(const Matmul& op, const Type& x, const Type& other, const Type& y, Isa isa = Isa::mve) {
  const Type* in[] = {&x, &other};
  const Type* out[] = {&y};
  const Constant* data[] = {nullptr, nullptr};
  return lower_to_cortex_m(op, {TypeView(in), TypeView(out), data, isa});
}

std::string inference_refusal(const Matmul& op, const Shape& x, const Shape& other) {
  const Type a{DType::f32, x, {}}, b{DType::f32, other, {}};
  const Type* in[] = {&a, &b};
  const auto types = infer(op, TypeView(in));
  return types ? "" : types.why.rule;
}

TEST(Matmul, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(inference_refusal({}, {2, 3, 5}, {2, 4, 5}), "");
  EXPECT_EQ(inference_refusal({}, {2, 3, 5}, {2, 4, 6}), "matmul.inner");
  EXPECT_EQ(inference_refusal({}, {2, 3, 5}, {1, 4, 5}), "matmul.batch");
  EXPECT_EQ(inference_refusal({}, {3, 5}, {4, 5}), "matmul.rank");
  EXPECT_EQ(inference_refusal({0}, {2, 3, 5}, {2, 4, 5}), "matmul.scale");
  EXPECT_EQ(inference_refusal({-1}, {2, 3, 5}, {2, 4, 5}), "matmul.scale");
}

TEST(Matmul, GivesTheKernelOffsetsAndTheWholeFactor) {
  const auto call = lowered({0.5f}, s8({2, 3, 5}, 0.5f, -7), s8({2, 4, 5}, 0.25f, 11), s8({2, 3, 4}, 0.125f, 3));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->call.name, "cortex_m::quantized_batch_matmul");
  const auto& args = call->call.args;
  EXPECT_EQ(args[1].integer, 7);
  EXPECT_EQ(args[3].integer, -11);
  EXPECT_EQ(args[4].integer, 3);
  EXPECT_EQ(static_cast<double>(args[5].integer) * std::ldexp(1.0, static_cast<int>(args[6].integer) - 31), 0.5);
  EXPECT_EQ(call->scratch[0].bytes(), 16);  // a sum for each of 4 columns
  const auto scalar = lowered({}, s8({2, 3, 5}, 0.5f, -7), s8({2, 4, 5}, 0.25f, 11), s8({2, 3, 4}, 0.125f, 3), Isa::scalar);
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->scratch[0].bytes(), 0);
}

TEST(Matmul, RefusesWhatTheKernelGetsWrong) {
  const Type x = s8({1, 3, 5}, 1e-4f, 0), other = s8({1, 4, 5}, 1e-4f, 0);
  const auto rule = [&](const Matmul& op, const Type& a, const Type& b, const Type& y) {
    const auto call = lowered(op, a, b, y);
    return call ? std::string() : call.why.rule;
  };
  EXPECT_EQ(rule({}, x, other, s8({1, 3, 4}, 1, 0)), "");
  EXPECT_EQ(rule({}, x, other, s8({1, 3, 4}, 1000, 0)), "cortex_m.matmul.scale");                                   // underflow
  EXPECT_EQ(rule({}, s8({1, 3, 5}, 1, 0), s8({1, 4, 5}, 1, 0), s8({1, 3, 4}, 1e-4f, 0)), "cortex_m.matmul.scale");  // shifted sums wrap
  EXPECT_EQ(rule({}, {DType::f32, {1, 3, 5}, {}}, other, s8({1, 3, 4}, 1, 0)), "cortex_m.matmul.dtype");
  EXPECT_EQ(rule({}, s8({1, 1, 40000}, 1, 0), s8({1, 1, 40000}, 1, 0), s8({1, 1, 1}, 1e5f, 0)), "cortex_m.matmul.inner");
}

}  // namespace
}  // namespace deuteron
