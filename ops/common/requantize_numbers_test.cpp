// SPDX-License-Identifier: Apache-2.0
// What the compiler gives the kernels of kernels/requantize/kernel.h for two types.
#include "ops/common/requantize_numbers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/requantize/kernel.h"

namespace deuteron {
namespace {

// int8 as int16 with 128 steps for one is exact, and comes back as it was.
TEST(RequantizeNumbers, GoesThereAndBack) {
  const Type narrow{DType::s8, {256}, per_tensor(0.1f, -17)},
      wide{DType::s16, {256}, per_tensor(0.1f / 128, 0, -32768, 32767)};
  const std::optional<RequantizeNumbers> there = requantize_numbers(narrow, wide),
                                         back = requantize_numbers(wide, narrow);
  ASSERT_TRUE(there && back);
  std::vector<int8_t> x(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(static_cast<int>(i) - 128);
  std::vector<int16_t> y(x.size());
  std::vector<int8_t> again(x.size());
  requantize_s16({256, -17, there->factor, there->shift, 0, -32768, 32767}, x.data(), y.data());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], (x[i] + 17) * 128) << i;
  requantize_s8({256, 0, back->factor, back->shift, -17, -128, 127}, y.data(), again.data());
  EXPECT_EQ(again, x);
}

// Against the real numbers: never more than half a step and what the factor of 15 bits leaves.
TEST(RequantizeNumbers, IsTheNearestStep) {
  for (const float scale : {0.011f, 0.0131f, 0.5f, 3.0f}) {
    const Type wide{DType::s16, {1}, per_tensor(scale / 100, 0, -32768, 32767)},
        narrow{DType::s8, {1}, per_tensor(scale, 3)};
    const std::optional<RequantizeNumbers> n = requantize_numbers(wide, narrow);
    ASSERT_TRUE(n);
    for (int32_t v = -12000; v <= 12000; ++v) {
      const auto x = static_cast<int16_t>(v);
      int8_t y = 0;
      requantize_s8({1, 0, n->factor, n->shift, 3, -128, 127}, &x, &y);
      const double exact = v / 100.0 + 3, bounded = std::min(127.0, std::max(-128.0, exact));
      // u is rounded to a part of a step first: 2^(shift) of one, half of that at most; and the
      // factor to 2^-16 of itself.
      EXPECT_LE(std::abs(y - bounded), 0.5 + std::exp2(n->shift - 1) + 131 * 0x1p-15)
          << v << ", scale " << scale;
    }
  }
}

TEST(RequantizeNumbers, HasNoNumbersForOtherTypes) {
  const Type narrow{DType::s8, {4}, per_tensor(0.1f, 0)},
      wide{DType::s16, {4}, per_tensor(0.001f, 0, -32768, 32767)};
  Type moved = wide, coarse = wide, by_channel = narrow;
  moved.quant.zero_point[0] = 1;
  coarse.quant.scale[0] = 1e9f;
  by_channel.quant.axis = 0, by_channel.quant.scale.assign(4, 0.1f),
  by_channel.quant.zero_point.assign(4, 0);
  EXPECT_TRUE(requantize_numbers(narrow, wide));
  EXPECT_FALSE(requantize_numbers(narrow, narrow));
  EXPECT_FALSE(requantize_numbers(wide, wide));
  EXPECT_FALSE(requantize_numbers(moved, narrow));
  EXPECT_FALSE(requantize_numbers(coarse, narrow));
  EXPECT_FALSE(requantize_numbers(narrow, coarse));
  EXPECT_FALSE(requantize_numbers(by_channel, wide));
}

}  // namespace
}  // namespace deuteron
