// SPDX-License-Identifier: Apache-2.0
// cumsum_s8 and its binding against the reference, bit for bit: every axis of every rank and
// layout, sums at the ends of int32, in place; and refusals.
#include "kernels/cumsum/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/cumsum/reference.h"

namespace deuteron {
namespace cumsum_test {

struct Case {
  const char* name;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;  // of the dimensions in memory; empty: as they stand
  int dim;
  int32_t x_zero, y_zero, multiplier, shift;
};

// The sizes in the order of memory: what lies before the dimension, it, and what lies behind.
CumsumArgs args_of(const Case& k) {
  CumsumArgs a{1,      k.sizes[static_cast<size_t>(k.dim)], 1, k.x_zero, k.y_zero, k.multiplier,
               k.shift};
  bool behind = false;
  for (size_t i = 0; i < k.sizes.size(); ++i) {
    const size_t dim = k.order.empty() ? i : k.order[i];
    if (static_cast<int>(dim) == k.dim) behind = true;
    else (behind ? a.inner : a.outer) *= k.sizes[dim];
  }
  return a;
}

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kCumsum);
  random.fill(call.tensor(ScalarType::s8, k.sizes, k.order));
  for (const int32_t v : {k.dim, k.x_zero, k.y_zero, k.multiplier, k.shift}) call.integer(v);
  call.tensor(ScalarType::s8, k.sizes, k.order);
  return call;
}

void check(KernelCases& cases, const std::string& name, const Case& k, TestCall& call) {
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(0).numel));
  cumsum_reference(args_of(k), data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.run(name, call);
  cases.expect(6, expected);
}

const Case kCases[] = {
    {"one axis", {37}, {}, 0, -3, 11, 1500000000, -4},
    {"last of two", {3, 41}, {}, 1, 17, -90, 1200000000, -3},
    {"first of two", {41, 3}, {}, 0, 17, -90, 1200000000, -3},
    {"middle of three", {3, 7, 5}, {}, 1, 0, 0, 1073741824, 0},
    {"channels of an image in channels-last",
     {2, 5, 3, 4},
     {0, 2, 3, 1},
     1,
     -128,
     -128,
     1800000000,
     -2},
    {"rows of an image in channels-last", {2, 5, 3, 4}, {0, 2, 3, 1}, 2, 127, 127, 1800000000, -2},
    {"batch of an image in channels-last", {3, 5, 3, 4}, {0, 2, 3, 1}, 0, 5, -7, 1800000000, -1},
    {"second of six", {2, 3, 1, 2, 5, 2}, {}, 1, 1, 2, 1610612736, -1},
    {"of one element", {2, 1, 3}, {}, 1, 9, -9, 1073741824, 1},
    {"steps twice as fine", {4, 29}, {}, 1, 40, -20, 1073741824, 2},
    {"a multiplier of nothing", {4, 9}, {}, 1, 40, -20, 0, 0},
    {"a negative multiplier", {4, 9}, {}, 1, 40, -20, -1500000000, -1},
};

TEST(CumsumKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    check(cases, k.name, k, call);
  }
}

TEST(CumsumKernel, MayOverwriteItsOperand) {
  KernelCases cases;
  const Case& k = kCases[4];
  Random random(77);
  TestCall call = call_of(k, random);
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(0).numel));
  cumsum_reference(args_of(k), data_of<int8_t>(call.tensor_at(0)), expected.data());
  call.tensor_at(6).data = call.tensor_at(0).data;
  cases.run("in place", call);
  cases.expect(6, expected);
}

// All elements as far from the zero point as they can be: with one more the last sum would leave
// int32.
TEST(CumsumKernel, EqualsTheDefinitionAtTheLongestLength) {
  for (const int32_t shift : {4, 8, 12})
    for (const bool up : {true, false}) {
      const auto length = static_cast<int32_t>(most_cumsum_length(shift));
      const CumsumArgs a{1, length, 1, up ? -128 : 127, up ? 127 : -128, INT32_MAX, shift};
      std::vector<int8_t> x(static_cast<size_t>(length), static_cast<int8_t>(up ? 127 : -128)),
          y(x.size());
      cumsum_s8(a, x.data(), y.data());
      EXPECT_EQ(std::count(y.begin(), y.end(), up ? 127 : -128), length)
          << "shift " << shift << (up ? ", up" : ", down");
      EXPECT_GT(255 * (int64_t{length} + 1) << shift, INT32_MAX - 128)
          << "the limit could be higher";
    }
}

TEST(CumsumKernel, EqualsTheDefinitionWhereSumsNearlyLeaveInt32) {
  const auto length = static_cast<int32_t>(most_cumsum_length(0));  // 8 MiB of elements
  const CumsumArgs a{1, length, 1, -128, 127, INT32_MAX, 0};
  std::vector<int8_t> x(static_cast<size_t>(length), 127), y(x.size());
  cumsum_s8(a, x.data(), y.data());
  EXPECT_EQ(y.back(), 127);
  EXPECT_EQ(std::count(y.begin(), y.end(), 127), length);
}

TEST(CumsumKernel, Refuses) {
  const auto make = [] {
    Random random(4);
    return call_of(kCases[4], random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8", type(0, ScalarType::u8)},
                      {0, "must have a dimension", rank(0, 0)},
                      {6, "must be int8", type(6, ScalarType::u8)},
                      {6, "must have the sizes and the order of the input", order(6, {0, 1, 2, 3})},
                      {6, "must have the sizes and the order of the input", size(6, 1, 4)},
                      {1, "is no dimension of the input", number(1, -1)},
                      {1, "is no dimension of the input", number(1, 4)},
                      {2, "must be -128..127", number(2, 128)},
                      {3, "must be -128..127", number(3, -129)},
                      {4, "is out of range", number(4, INT32_MIN)},
                      {5, "must be -31..30", number(5, -32)},
                      {5, "must be -31..30", number(5, 31)},
                      {0, "is too long for sums within int32",
                       number(5, 22)},  // 2^31 / 2^22 = 512 steps: two elements of five
                  });
}

TEST(CumsumKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kCumsum, "x8:2,3,4,5:0231 i:2 i:-7 i:5 i:1500000000 i:-3 x8:2,3,4,5:0231");
}

}  // namespace cumsum_test
}  // namespace deuteron
