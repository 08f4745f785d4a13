// SPDX-License-Identifier: Apache-2.0
// Tables against what TFLite's reference kernels of ai-edge-litert 2.3.0 gave, and the root that
// they take against real numbers.
#include "ops/unary/reference_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/integer/inverse_root.h"

namespace deuteron {
namespace {

Quant steps(float scale, i32 zero) { return per_tensor(scale, zero); }

// Five steps leave 2^-18 of the root at most, measured on every number that is a step of this loop.
TEST(InverseRoot, IsNearTheRoot) {
  for (i64 v = 1; v <= INT32_MAX; v += 1 + v / 97) {
    const InverseRoot root = inverse_root(static_cast<int32_t>(v));
    const double found = std::ldexp(root.value, root.shift - 31),
                 real = 1 / std::sqrt(static_cast<double>(v));
    EXPECT_NEAR(found / real, 1, 0x1p-18) << v;
    EXPECT_TRUE(root.shift <= 0 && root.shift >= -16) << v;
  }
}

// Source: TFLite, quantization_util_test.cc.
TEST(InverseRoot, HasTheBitsOfTflite) {
  constexpr struct {
    int32_t v, value, right;
  } kRows[] = {{0, INT32_MAX, 0},        {1, INT32_MAX, 0},         {2, 1518498372, 0},
               {3, 1239850284, 0},       {4, 1073741828, 0},        {100, 214748363, 0},
               {10000, 343597361, 4},    {1000000, 274877901, 7},   {100000000, 219902323, 10},
               {1 << 30, 268435457, 12}, {INT32_MAX, 189812531, 12}};
  for (const auto& row : kRows) {
    const InverseRoot root = inverse_root(row.v);
    EXPECT_EQ(root.value, row.value) << row.v;
    EXPECT_EQ(root.shift, -row.right) << row.v;
  }
}

i32 entry(UnaryFn fn, const Quant& x, const Quant& y, i32 step) {
  return reference_table({fn, 0}, x, y)[static_cast<size_t>(step + 128)];
}

// A table of float32 numbers has the step below.
TEST(ReferenceTable, TakesTheRootOfAnInteger) {
  EXPECT_EQ(entry(UnaryFn::rsqrt, steps(0.0714f, -128), steps(0.6071f, -128), 24), -127);
  EXPECT_EQ(entry(UnaryFn::rsqrt, steps(0.0077f, -128), steps(0.0084f, -128), 107), -39);
  EXPECT_EQ(entry(UnaryFn::rsqrt, steps(0.0289f, -128), steps(0.0122f, -128), -93), -46);
  EXPECT_EQ(entry(UnaryFn::rsqrt, steps(0.0289f, -20), steps(0.0122f, 5), -20), 127);
}

TEST(ReferenceTable, CutsRootsOff) {
  const Quant x = steps(0.03f, -20), y = steps(0.01f, -100);
  constexpr i32 kRoots[] = {-100, -83, -76, -71, -66, -62, -58, -55, -52, -49,
                            -46,  -43, -41, -38, -36, -33, -31, -29, -27, -25};
  for (i32 k = 0; k < static_cast<i32>(std::size(kRoots)); ++k)
    EXPECT_EQ(entry(UnaryFn::sqrt, x, y, k - 20), kRoots[k]) << k;
}

TEST(ReferenceTable, HasTheLeastStepWhereThereIsNoLogarithm) {
  const Quant x = steps(0.3f, 5), y = steps(0.02f, 10);
  for (i32 q = -128; q <= 5; ++q) EXPECT_EQ(entry(UnaryFn::log, x, y, q), -128) << q;
  EXPECT_EQ(entry(UnaryFn::log, x, y, 9), 19);  // log(1.2) / 0.02
}

TEST(ReferenceTable, LeavesTheLeastStepItsSign) {
  const Quant x = steps(0.3f, 0);
  EXPECT_EQ(entry(UnaryFn::neg, x, x, -128), -128);
  EXPECT_EQ(entry(UnaryFn::neg, x, x, -127), 127);
  EXPECT_EQ(entry(UnaryFn::neg, steps(0.3f, 1), steps(0.3f, 1), -127), 127);
}

}  // namespace
}  // namespace deuteron
