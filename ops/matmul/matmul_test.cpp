// SPDX-License-Identifier: Apache-2.0
// What Matmul refuses, its float execution, and the numbers that its lowering gives to the kernel.
#include "ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "ops/all.h"
#include "ops/matmul/zero_points.h"

namespace deuteron {
namespace {

Type s8(Shape shape, float scale, i32 zero) {
  return {DType::s8, std::move(shape), per_tensor(scale, zero)};
}

Result<Lowered> lowered(const Matmul& op, const Type& x, const Type& other, const Type& y,
                        Isa isa = Isa::mve) {
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

std::vector<float> executed(const Matmul& op, const Shape& x, const Shape& other,
                            std::vector<float> a, std::vector<float> b) {
  const Type first{DType::f32, x, {}}, second{DType::f32, other, {}},
      result{DType::f32, {x[0], x[1], other[1]}, {}};
  std::vector<float> y(static_cast<size_t>(result.elements()));
  const HostTensor in[] = {{&first, a.data()}, {&second, b.data()}}, out[] = {{&result, y.data()}};
  execute(op, in, out);
  return y;
}

// Many rows go beside panels of columns, few element by element.
TEST(Matmul, GivesInFloatTheSameBitsForRowsTogetherAndAlone) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const auto& [rows, columns, inner] :
       {std::array<i64, 3>{7, 35, 21}, {4, 16, 8}, {5, 1, 3}, {9, 17, 40}, {6, 31, 1}}) {
    std::vector<float> a(static_cast<size_t>(2 * rows * inner)),
        b(static_cast<size_t>(2 * columns * inner));
    for (std::vector<float>* v : {&a, &b})
      for (float& e : *v) e = normal(random);
    const std::vector<float> together =
        executed({0.3f}, {2, rows, inner}, {2, columns, inner}, a, b);
    for (i64 m = 0; m < 2 * rows; ++m) {
      const auto part = [](const std::vector<float>& v, i64 k, i64 count) {
        return std::vector<float>(v.begin() + k * count, v.begin() + (k + 1) * count);
      };
      const std::vector<float> alone =
          executed({0.3f}, {1, 1, inner}, {1, columns, inner}, part(a, m, inner),
                   part(b, m / rows, columns * inner));
      EXPECT_EQ(alone, part(together, m, columns)) << rows << " " << columns << " " << inner;
    }
  }
}

TEST(Matmul, GivesTheKernelOffsetsAndTheWholeFactor) {
  const auto call =
      lowered({0.5f}, s8({2, 3, 5}, 0.5f, -7), s8({2, 4, 5}, 0.25f, 11), s8({2, 3, 4}, 0.125f, 3));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->call.name, "cortex_m::quantized_batch_matmul");
  const auto& args = call->call.args;
  EXPECT_EQ(args[1].integer, 7);
  EXPECT_EQ(args[3].integer, -11);
  EXPECT_EQ(args[4].integer, 3);
  EXPECT_EQ(static_cast<double>(args[5].integer) *
                std::ldexp(1.0, static_cast<int>(args[6].integer) - 31),
            0.5);
  EXPECT_EQ(call->scratch[0].bytes(), 16);  // a sum for each of 4 columns
  const auto scalar = lowered({}, s8({2, 3, 5}, 0.5f, -7), s8({2, 4, 5}, 0.25f, 11),
                              s8({2, 3, 4}, 0.125f, 3), Isa::scalar);
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
  EXPECT_EQ(rule({}, x, other, s8({1, 3, 4}, 1000, 0)), "cortex_m.matmul.scale");  // underflow
  EXPECT_EQ(rule({}, s8({1, 3, 5}, 1, 0), s8({1, 4, 5}, 1, 0), s8({1, 3, 4}, 1e-4f, 0)),
            "cortex_m.matmul.scale");  // shifted sums wrap
  EXPECT_EQ(rule({}, {DType::f32, {1, 3, 5}, {}}, other, s8({1, 3, 4}, 1, 0)),
            "cortex_m.matmul.dtype");
  EXPECT_EQ(rule({}, s8({1, 1, 40000}, 1, 0), s8({1, 1, 40000}, 1, 0), s8({1, 1, 1}, 1e5f, 0)),
            "cortex_m.matmul.inner");
}

std::vector<i64> laid_out(const std::vector<InnerPiece>& pieces, const std::vector<i64>& steps) {
  std::vector<i64> row;
  for (const InnerPiece& piece : pieces)
    for (i64 k = 0; k < piece.extent; ++k)
      row.push_back(piece.fill ? *piece.fill : steps[static_cast<size_t>(k)]);
  return row;
}

// Every pair of zero points, on steps that reach both ends.
TEST(Matmul, RowsWithoutZeroPointsHaveTheSameSum) {
  std::mt19937 random(7);
  for (const i64 inner : {8, 24})
    for (i32 x_zero = -128; x_zero <= 127; ++x_zero)
      for (i32 other_zero = -128; other_zero <= 127; ++other_zero) {
        std::vector<i64> x, other;
        for (i64 k = 0; k < inner; ++k) {
          x.push_back(k == 0 ? 127 : k == 1 ? -128 : static_cast<i64>(random() % 256) - 128);
          other.push_back(k == 0 ? -128 : k == 1 ? -128 : static_cast<i64>(random() % 256) - 128);
        }
        i64 wanted = 0, found = 0;
        for (size_t k = 0; k < x.size(); ++k) wanted += (x[k] - x_zero) * (other[k] - other_zero);
        const InnerPieces pieces = without_zero_points(x_zero, other_zero, inner);
        const std::vector<i64> a = laid_out(pieces.x, x), b = laid_out(pieces.other, other);
        ASSERT_EQ(a.size(), b.size()) << x_zero << ", " << other_zero;
        ASSERT_EQ(static_cast<i64>(a.size()), pieces.extent());
        ASSERT_EQ(a.size() % 8, 0u);
        for (size_t k = 0; k < a.size(); ++k) {
          ASSERT_TRUE(a[k] >= -128 && a[k] <= 127 && b[k] >= -128 && b[k] <= 127);
          found += a[k] * b[k];
        }
        ASSERT_EQ(found, wanted) << x_zero << ", " << other_zero;
      }
}

TEST(Matmul, RowsGrowByWhatZeroPointsNeed) {
  EXPECT_EQ(without_zero_points(0, 0, 64).extent(), 64);
  EXPECT_EQ(without_zero_points(5, 0, 64).extent(), 128);
  EXPECT_EQ(without_zero_points(-128, 0, 64).extent(),
            192);  // what a softmax gives: 128 is 127 and 1
  EXPECT_EQ(without_zero_points(-3, 4, 64).extent(),
            200);  // 64 * 3 * 4 is one product, and zeros up to 8
}

}  // namespace
}  // namespace deuteron
