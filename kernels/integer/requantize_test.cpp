// SPDX-License-Identifier: Apache-2.0
// The product by halves, which cores with 32-bit products use, against the product of 64 bits.
#include "kernels/integer/requantize.h"

#include <gtest/gtest.h>

#include <random>

namespace deuteron {
namespace {

void expect_same(int32_t a, int32_t b) {
  const int64_t product = int64_t{a} * b;
  const HighWord halves = high_word_by_halves(a, b);
  ASSERT_EQ(halves.high, static_cast<int32_t>(product >> 32)) << a << " * " << b;
  ASSERT_EQ(halves.below, static_cast<uint32_t>(product) >> 16) << a << " * " << b;
  ASSERT_EQ(multiply_high_by_halves(a, b), multiply_high(a, b)) << a << " * " << b;
  ASSERT_EQ(multiply_high_down_by_halves(a, b), multiply_high_down(a, b)) << a << " * " << b;
}

TEST(Requantize, HalvesGiveTheSameProduct) {
  constexpr int32_t kEdges[] = {INT32_MIN,  INT32_MIN + 1, -65537,   -65536, -65535,     -32769,
                                -32768,     -32767,        -1,       0,      1,          32767,
                                32768,      65535,         65536,    65537,  0x3fffffff, 0x40000000,
                                0x40000001, INT32_MAX - 1, INT32_MAX};
  for (const int32_t a : kEdges)
    for (const int32_t b : kEdges) expect_same(a, b);
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const int32_t a = static_cast<int32_t>(random()), b = static_cast<int32_t>(random());
    expect_same(a >> i % 32, b);
  }
}

}  // namespace
}  // namespace deuteron
