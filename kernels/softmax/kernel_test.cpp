// SPDX-License-Identifier: Apache-2.0
// softmax_s8 and softmax_s8_wide against the fixed-point reference, bit for bit, and against the
// real softmax within one step; long rows; and refusals.
#include "kernels/softmax/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/integer/reciprocal.h"
#include "kernels/softmax/reference.h"

namespace deuteron {
namespace softmax_test {

// As a compiler writes them: the scale in Q5.26, and the difference below which exp() is nothing.
SoftmaxArgs args_of(int32_t rows, int32_t columns, double scale) {
  int exponent = 0;
  const double mantissa = std::frexp(std::min(scale * (1 << 26), 2147483647.0), &exponent);
  int64_t m = std::llrint(mantissa * 2147483648.0);
  if (m == int64_t{1} << 31) m /= 2, ++exponent;
  return {rows, columns, static_cast<int32_t>(m), exponent,
          -static_cast<int32_t>(std::floor(31.0 * (1 << 26) / std::ldexp(1.0, exponent)))};
}

TestCall call_of(const SoftmaxArgs& a, const std::vector<int32_t>& sizes, int64_t dim,
                 Random& random, const std::vector<uint8_t>& order = {}) {
  TestCall call(kSoftmax);
  random.fill(call.tensor(ScalarType::s8, sizes, order));
  for (int64_t v : {dim, int64_t{5}, int64_t{-128}, int64_t{a.multiplier}, int64_t{a.shift},
                    int64_t{a.diff_min}})
    call.integer(v);
  call.tensor(ScalarType::s8, sizes, order);
  return call;
}

void check(KernelCases& cases, const SoftmaxArgs& a, TestCall& call) {
  const std::string name = testing::PrintToString(
      std::vector<int32_t>{a.rows, a.columns, a.multiplier, a.shift, a.diff_min});
  std::vector<int8_t> expected(static_cast<size_t>(a.rows * a.columns));
  softmax_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.run(name, call);
  cases.expect(7, expected);
}

TEST(SoftmaxKernel, ReadsAScaleAsTheDialectWritesIt) {
  const SoftmaxArgs a = args_of(1, 12, 0.018563);  // near the example of a stock file
  EXPECT_EQ(a.shift, 21);
  EXPECT_EQ(a.diff_min, -992);
}

TEST(SoftmaxKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const double scale : {0.0001, 0.0018, 0.018563, 0.05, 0.25, 0.9999, 1.0, 3.0, 20.0, 40.0})
    for (const int32_t columns : {1, 2, 10, 12, 67, 511, 1000}) {
      const SoftmaxArgs a = args_of(3, columns, scale);
      Random random(seed++);
      TestCall call = call_of(a, {3, columns}, -1, random);
      check(cases, a, call);
    }
}

TEST(SoftmaxKernel, EqualsTheReferenceOnEveryDifference) {
  KernelCases cases;
  for (const double scale : {0.0018, 0.018563, 0.0371, 0.11, 0.5})
    for (int32_t fill = 1; fill < 5; ++fill) {
      const SoftmaxArgs a = args_of(1, 256, scale);
      Random random(1);
      TestCall call = call_of(a, {256}, 0, random);
      for (int32_t i = 0; i < 256; ++i)
        data_of<int8_t>(call.tensor_at(0))[i] = static_cast<int8_t>(i % (256 / fill) * fill - 128);
      check(cases, a, call);
    }
}

TEST(SoftmaxKernel, IsWithinAStepOfTheRealOne) {
  for (const double scale : {0.002, 0.018563, 0.07, 0.3, 1.5}) {
    const SoftmaxArgs a = args_of(1, 37, scale);
    for (uint32_t seed = 0; seed < 50; ++seed) {
      Random random(seed);
      TestCall call = call_of(a, {37}, 0, random);
      call.run();
      std::vector<double> real(37);
      softmax_real(37, scale, data_of<int8_t>(call.tensor_at(0)), real.data());
      for (size_t i = 0; i < 37; ++i)
        EXPECT_LE(std::abs(data_of<int8_t>(call.tensor_at(7))[i] - std::min(real[i], 127.0)), 0.51);
    }
  }
}

// 511 equal elements are the most that 28 bits of sum hold; from there on every probability is
// 1/512 or less and rounds to none.
TEST(SoftmaxKernel, HasNoLimitOfColumns) {
  KernelCases cases;
  for (const int32_t columns :
       {2, 100, 256, 511, 512, 513, 1000, 4095, 4096, 8191, 8192, 8193, 20000}) {
    const SoftmaxArgs a = args_of(2, columns, 0.05);
    Random random(1);
    TestCall call = call_of(a, {2, columns}, 1, random);
    std::memset(call.tensor_at(0).data, 17, static_cast<size_t>(call.tensor_at(0).numel));
    check(cases, a, call);
    const int expected =
        columns >= 512 ? -128 : static_cast<int>(std::lround(256.0 / columns)) - 128;
    EXPECT_EQ(data_of<int8_t>(call.tensor_at(7))[columns - 1], expected) << columns;
  }
}

TEST(SoftmaxKernel, WorksInPlace) {
  KernelCases cases;
  EXPECT_TRUE(kSoftmax.in_place);
  Random random(9);
  const SoftmaxArgs a = args_of(5, 33, 0.04);
  TestCall call = call_of(a, {5, 33}, -1, random);
  call.tensor_at(7).data = call.tensor_at(0).data;
  check(cases, a, call);
}

TEST(SoftmaxKernel, TakesTheDimensionThatIsInnermost) {
  KernelCases cases;
  Random random(3);
  const SoftmaxArgs a = args_of(2 * 3 * 5, 7, 0.04);
  TestCall channels = call_of(a, {2, 7, 3, 5}, 1, random, {0, 2, 3, 1});
  check(cases, a, channels);
  TestCall last = call_of(a, {2, 7, 3, 5}, -1, random, {0, 2, 3, 1});
  EXPECT_EQ(last.refused(), 1);
  TestCall flat = call_of(a, {2, 7, 1, 1}, 1, random, {0, 2, 3, 1});
  EXPECT_EQ(flat.refused(), -1);
}

TEST(SoftmaxKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(args_of(4, 9, 0.05), {4, 9}, 1, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8", type(0, ScalarType::f32)},
                      {0, "must have a dimension", rank(0, 0)},
                      {0, "must have elements along the dimension",
                       [](TestCall& c) { c.sizes_at(0)[1] = c.sizes_at(7)[1] = 0; }},
                      {1, "must be the dimension whose elements lie side by side", number(1, 0)},
                      {1, "is no dimension of the input", number(1, 2)},
                      {1, "is no dimension of the input", number(1, -3)},
                      {3, "must be -128", number(3, 0)},
                      {4, "is out of range", number(4, -5)},
                      {5, "must be 0..31", number(5, 32)},
                      {5, "must be 0..31", number(5, -1)},
                      {6, "must not be positive", number(6, 1)},
                      {6, "must keep differences within int32", numbers(5, 28, 6, -100)},
                      {7, "must be int8", type(7, ScalarType::u8)},
                      {7, "must have the sizes and the order of the input", size(7, 0, 5)},
                  });
}

TestCall wide_call_of(const SoftmaxArgs& a, std::vector<int32_t> sizes, Random& random) {
  TestCall call(kSoftmaxS8Wide);
  random.fill(call.tensor(ScalarType::s8, sizes));
  for (const int32_t v : {a.multiplier, a.shift, a.diff_min}) call.integer(v);
  call.tensor(ScalarType::s16, std::move(sizes));
  return call;
}

void check_wide(KernelCases& cases, const SoftmaxArgs& a, TestCall& call) {
  std::vector<int16_t> expected(static_cast<size_t>(a.rows * a.columns));
  softmax_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.run(testing::PrintToString(
                std::vector<int32_t>{a.rows, a.columns, a.multiplier, a.shift, a.diff_min}),
            call);
  cases.expect(4, expected);
}

TEST(SoftmaxS8WideKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const double scale : {0.0001, 0.018563, 0.25, 1.0, 40.0})
    for (const int32_t columns : {1, 2, 11, 67, 1000, kMostSoftmaxWideColumns}) {
      const SoftmaxArgs a = args_of(2, columns, scale);
      Random random(seed++);
      TestCall call = wide_call_of(a, {2, columns}, random);
      check_wide(cases, a, call);
    }
  // As much as the sum holds.
  const SoftmaxArgs a = args_of(1, kMostSoftmaxWideColumns, 0.05);
  Random random(1);
  TestCall call = wide_call_of(a, {kMostSoftmaxWideColumns}, random);
  std::memset(call.tensor_at(0).data, 17, static_cast<size_t>(call.tensor_at(0).numel));
  check_wide(cases, a, call);
  EXPECT_EQ(data_of<int16_t>(call.tensor_at(4))[9], 16 - 32768);
}

TEST(SoftmaxS8WideKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return wide_call_of(args_of(4, 9, 0.05), {4, 9}, random);
  };
  expect_refusals(make, {
                            {0, "must be int8", type(0, ScalarType::f32)},
                            {0, "must have a dimension", rank(0, 0)},
                            {0, "must have 1..4095 elements in a row",
                             [](TestCall& c) { c.sizes_at(0)[1] = c.sizes_at(4)[1] = 0; }},
                            {0, "must have 1..4095 elements in a row",
                             [](TestCall& c) { c.sizes_at(0)[1] = c.sizes_at(4)[1] = 4096; }},
                            {1, "is out of range", number(1, -5)},
                            {2, "must be 0..31", number(2, 32)},
                            {3, "must not be positive", number(3, 1)},
                            {3, "must keep differences within int32", numbers(2, 28, 3, -100)},
                            {4, "must be int16", type(4, ScalarType::s8)},
                            {4, "must have the sizes and the order of the input", size(4, 0, 5)},
                        });
}

TEST(SoftmaxS8WideKernel, StaysInsideItsTensors) {
  expect_inside(kSoftmaxS8Wide, "x8:3,5 i:1500000000 i:20 i:-200 x16:3,5");
}

// What the DSP extension's multiplication by a reciprocal holds to be true: kernel.cpp.
TEST(SoftmaxKernel, ReciprocalsAreHalfAtLeast) {
  int32_t least = INT32_MAX;
  for (int32_t v = INT32_MAX - 15, k = 0; k < 1 << 20; ++k, v -= 16)
    least = std::min(least, reciprocal_of_one_plus(v));
  EXPECT_GE(least, 1 << 30);
}

}  // namespace softmax_test
}  // namespace deuteron
