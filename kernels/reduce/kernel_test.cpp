// SPDX-License-Identifier: Apache-2.0
// sum_s8 and its binding against the reference, bit for bit: slices of every place, lengths beyond
// what int16 holds, sums at the ends of int32; and refusals.
#include "kernels/reduce/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/reduce/reference.h"

namespace deuteron {
namespace reduce_test {

struct Case {
  const char* name;
  SumArgs a;
};

TestCall call_of(const SumArgs& a, Random& random) {
  TestCall call(kSum);
  random.fill(call.tensor(ScalarType::s8, {a.outer, a.slice, a.inner}));
  for (const int32_t v : {a.inner, a.x_zero, a.y_zero, a.multiplier, a.shift, a.low, a.high})
    call.integer(v);
  call.tensor(ScalarType::s8, {a.outer, 1, a.inner});
  return call;
}

void check(KernelCases& cases, const std::string& name, const SumArgs& a, TestCall& call) {
  std::vector<int8_t> expected(static_cast<size_t>(a.outer * a.inner));
  sum_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.run(name, call);
  cases.expect(8, expected);
}

const Case kCases[] = {
    {"mean of an image", {1, 64, 64, -128, -128, 1717986918, -5, -128, 127}},
    {"mean of two images", {2, 15, 7, 3, -4, 1500000000, -4, -128, 127}},
    {"of a row", {5, 37, 1, -3, 11, 1500000000, -4, -128, 127}},
    {"of a row of one vector", {3, 16, 1, 5, 11, 1500000000, -3, -128, 127}},
    {"of rows shorter than a vector", {4, 3, 1, 17, -90, 1200000000, -1, -128, 127}},
    {"one element each", {3, 1, 5, 9, -9, 1073741824, 0, -128, 127}},
    {"a neighbour more than a vector", {2, 9, 17, 0, 0, 1800000000, -3, -128, 127}},
    {"half a vector of neighbours", {2, 9, 8, 0, 0, 1800000000, -3, -128, 127}},
    {"three neighbours", {2, 9, 3, 0, 0, 1800000000, -3, -128, 127}},
    {"more neighbours than a block", {1, 6, 130, 127, 127, 1800000000, -3, -128, 127}},
    {"longer than int16 holds", {1, 700, 18, -128, 100, 1800000000, -9, -128, 127}},
    {"within bounds of its own", {2, 11, 6, 4, -7, 1800000000, -2, -31, 54}},
    {"scaled up", {2, 5, 6, 40, -20, 1073741824, 2, -128, 127}},
    {"a multiplier of nothing", {1, 9, 4, 40, -20, 0, 0, -128, 127}},
    {"a negative multiplier", {1, 9, 20, 40, -20, -1500000000, -1, -128, 127}},
};

TEST(SumKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k.a, random);
    check(cases, k.name, k.a, call);
  }
}

// Sizes stand in any order: the kernel meets elements as they lie in memory.
TEST(SumKernel, TakesAnImageInChannelsLast) {
  KernelCases cases;
  Random random(99);
  const SumArgs a{2, 20, 6, -5, 7, 1600000000, -4, -128, 127};
  TestCall call(kSum);
  random.fill(call.tensor(ScalarType::s8, {2, 6, 5, 4}, {0, 2, 3, 1}));
  for (const int32_t v : {a.inner, a.x_zero, a.y_zero, a.multiplier, a.shift, a.low, a.high})
    call.integer(v);
  call.tensor(ScalarType::s8, {2, 6, 1, 1}, {0, 2, 3, 1});
  check(cases, "channels last", a, call);
}

// All elements as far from the zero point as they can be: with one more the sum would leave int32.
TEST(SumKernel, EqualsTheDefinitionAtTheLongestSlice) {
  for (const int32_t shift : {0, 4, 12})
    for (const bool up : {true, false}) {
      const auto slice = static_cast<int32_t>(most_summed(shift));
      const SumArgs a{1, slice, 1, up ? -128 : 127, up ? 127 : -128, INT32_MAX, shift, -128, 127};
      const std::vector<int8_t> x(static_cast<size_t>(slice), static_cast<int8_t>(up ? 127 : -128));
      int8_t y = 0;
      sum_s8(a, x.data(), &y);
      EXPECT_EQ(y, up ? 127 : -128) << "shift " << shift;
      EXPECT_GT(255 * (int64_t{slice} + 1) << shift, INT32_MAX - 128)
          << "the limit could be higher";
    }
}

TEST(SumKernel, Refuses) {
  const auto make = [] {
    Random random(4);
    return call_of(kCases[1].a, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8", type(0, ScalarType::u8)},
                      {8, "must be int8", type(8, ScalarType::u8)},
                      {2, "must be -128..127", number(2, 128)},
                      {3, "must be -128..127", number(3, -129)},
                      {4, "is out of range", number(4, INT32_MIN)},
                      {5, "must be -31..30", number(5, -32)},
                      {5, "must be -31..30", number(5, 31)},
                      {6, "must be -128..127", number(6, 128)},
                      {7, "must be activation_min..127", number(7, -129)},
                      {1, "must divide the elements of the result", number(1, 0)},
                      {1, "must divide the elements of the result", number(1, 4)},
                      {0, "must have as many elements for each of the result", elements(0, 211)},
                      {0, "must have as many elements for each of the result", elements(0, 0)},
                      {0, "has slices too long for sums within int32",
                       number(5, 20)},  // 2^31 / 2^20 = 2048 steps: 8 elements
                  });
}

TEST(SumKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kSum, "x8:2,12,5 i:5 i:-7 i:5 i:1500000000 i:-3 i:-128 i:127 x8:2,1,5");
}

}  // namespace reduce_test
}  // namespace deuteron
