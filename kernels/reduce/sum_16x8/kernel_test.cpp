// SPDX-License-Identifier: Apache-2.0
// sum_16x8 and its binding against the reference, bit for bit, to the longest slice; and refusals.
#include "kernels/reduce/sum_16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {
namespace sum_16x8_test {

TestCall call_of(const Sum16x8Args& a, Random& random) {
  TestCall call(kSum16x8);
  add_int16(call, random, {a.outer, a.slice, a.inner});
  for (const int32_t v : {a.inner, a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::s16, {a.outer, a.inner});
  return call;
}

std::vector<int16_t> expected_of(const Sum16x8Args& a, const int16_t* x) {
  std::vector<int16_t> y;
  for (int32_t o = 0; o < a.outer; ++o)
    for (int32_t i = 0; i < a.inner; ++i) {
      int64_t sum = 0;
      for (int32_t k = 0; k < a.slice; ++k) sum += x[(int64_t{o} * a.slice + k) * a.inner + i];
      const int64_t v = requantize_reference(sum, a.multiplier, a.shift);
      y.push_back(static_cast<int16_t>(v < -32768 ? -32768 : v > 32767 ? 32767 : v));
    }
  return y;
}

TEST(Sum16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Sum16x8Args table[] = {{2, 9, 5, 1234567890, -3},
                               {3, 1, 4, 1 << 30, 1},
                               {1, 700, 1, 1999999999, -9},
                               {7, 3, 1, 1500000000, 2},
                               {1, 2, 11, 0, 0}};
  uint32_t seed = 1;
  for (const Sum16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run("slices of " + std::to_string(a.slice), call);
    cases.expect(4, expected_of(a, data_of<int16_t>(call.tensor_at(0))));
  }
}

TEST(Sum16x8Kernel, TakesAsLongASliceAsItSays) {
  const Sum16x8Args a{1, kMostSummed16x8, 1, 1 << 30, -15};
  const std::vector<int16_t> x(static_cast<size_t>(a.slice), -32768);
  int16_t y = 0;
  sum_16x8(a, x.data(), &y);
  EXPECT_EQ(y, expected_of(a, x.data())[0]);
  EXPECT_GE(int64_t{-32768} * kMostSummed16x8, INT32_MIN);
}

TEST(Sum16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 9, 5, 1234567890, -3}, random);
  };
  expect_refusals(
      make,
      {
          {0, "must be int16", type(0, ScalarType::s8)},
          {4, "must be int16", type(4, ScalarType::s8)},
          {1, "must divide the elements of the result", number(1, 3)},
          {0, "must have as many elements for each of the result", elements(0, 91)},
          {0, "has slices too long for sums within int32", elements(0, 10 * (kMostSummed16x8 + 1))},
          {2, "is out of range", number(2, -1)},
          {3, "must be -31..30", number(3, 31)},
      });
}

TEST(Sum16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kSum16x8, "x16:2,9,5 i:5 i:1234567890 i:-3 x16:2,5");
}

}  // namespace sum_16x8_test
}  // namespace deuteron
