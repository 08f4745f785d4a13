// SPDX-License-Identifier: Apache-2.0
// layer_norm_s8 and its binding against the reference, bit for bit: sizes up to the limit, constant
// rows, ends of every range; and refusals.
#include "kernels/layer_norm/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/layer_norm/reference.h"

namespace deuteron {
namespace layer_norm_test {

constexpr int32_t kMost = 1 << 30;

struct Case {
  const char* name;
  std::vector<int32_t> sizes;
  int32_t columns, x_zero, y_zero;
  bool centered;
  int32_t epsilon_bits;
  int64_t epsilon;
  int32_t shift;
  int32_t low = -128, high = 127;  // of x
};

// Weights are spread over all magnitudes: 2^0 .. 2^30, of both signs.
std::vector<int32_t> numbers(Random& random, int32_t count) {
  std::vector<int32_t> all;
  for (int32_t i = 0; i < count; ++i)
    all.push_back(static_cast<int32_t>(random.in(-kMost, kMost)) >> random.in(0, 12));
  return all;
}

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kLayerNorm);
  Tensor& x = call.tensor(ScalarType::s8, k.sizes);
  for (int32_t i = 0; i < x.numel; ++i)
    data_of<int8_t>(x)[i] = static_cast<int8_t>(random.in(k.low, k.high));
  call.constants(numbers(random, k.columns));
  call.constants(numbers(random, k.columns));
  call.integer(k.x_zero);
  call.integer(k.y_zero);
  call.boolean(k.centered);
  for (const int64_t v : {int64_t{k.epsilon_bits}, k.epsilon, int64_t{k.shift}}) call.integer(v);
  call.tensor(ScalarType::s8, k.sizes);
  return call;
}

std::vector<int8_t> expected_of(const Case& k, TestCall& call) {
  const Tensor& x = call.tensor_at(0);
  std::vector<int8_t> y(static_cast<size_t>(x.numel));
  const LayerNormArgs a{x.numel / k.columns, k.columns, k.x_zero,  k.y_zero,
                        k.epsilon_bits,      k.shift,   k.epsilon, k.centered};
  layer_norm_reference(a, data_of<int8_t>(x), data_of<int32_t>(call.tensor_at(1)),
                       data_of<int32_t>(call.tensor_at(2)), y.data());
  return y;
}

const Case kCases[] = {
    {"rows of 16", {4, 16}, 16, -3, 11, true, 16, 419430, 24},
    {"rows of 16, not centered", {4, 16}, 16, -3, 11, false, 16, 419430, 24},
    {"two axes", {2, 3, 5, 7}, 35, 17, -90, true, 12, 1000, 24},
    {"one element", {9, 1}, 1, 5, 7, true, 16, 12345, 22},
    {"one element, not centered", {9, 1}, 1, 5, 7, false, 16, 12345, 22},
    {"rows that are constant, without epsilon", {3, 8}, 8, 0, 1, true, 16, 0, 24, 42, 42},
    {"zeros, not centered, without epsilon", {3, 8}, 8, 42, 1, false, 16, 0, 24, 42, 42},
    {"rows of two neighbours", {30, 6}, 6, 0, 0, true, 16, 0, 26, 3, 4},
    {"an epsilon beside which nothing counts",
     {4, 33},
     33,
     3,
     -3,
     true,
     0,
     (int64_t{1} << 61) - 1,
     24},
    {"coarse steps of the result", {5, 40}, 40, -128, 127, true, 16, 77, 40},
    {"fine steps of the result", {5, 40}, 40, 127, -128, true, 16, 77, 0},
    {"the longest row", {1, 32768}, 32768, -128, 0, true, 16, 1 << 20, 26},
    {"the longest row, not centered, all as large as can be",
     {1, 32768},
     32768,
     -128,
     0,
     false,
     16,
     0,
     26,
     127,
     127},
};

TEST(LayerNormKernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    const std::vector<int8_t> expected = expected_of(k, call);
    cases.run(k.name, call);
    cases.expect(9, expected);
  }
}

TEST(LayerNormKernel, EqualsTheReferenceAnywhere) {
  KernelCases cases;
  Random random(20);
  for (int i = 0; i < 400; ++i) {
    const int32_t columns = random.in(1, 70), low = random.in(-128, 127),
                  high = random.in(low, 127);
    const Case k{"",
                 {random.in(1, 5), columns},
                 columns,
                 random.in(-128, 127),
                 random.in(-128, 127),
                 random.in(0, 1) == 1,
                 2 * random.in(0, 8),
                 random.in(0, 1 << 30) >> random.in(0, 30),
                 random.in(10, 40),
                 low,
                 high};
    TestCall call = call_of(k, random);
    const std::vector<int8_t> expected = expected_of(k, call);
    cases.run("random call " + std::to_string(i), call);
    cases.expect(9, expected);
  }
}

TEST(LayerNormKernel, MayOverwriteItsOperand) {
  KernelCases cases;
  Random random(77);
  TestCall call = call_of(kCases[2], random);
  const std::vector<int8_t> expected = expected_of(kCases[2], call);
  call.tensor_at(9).data = call.tensor_at(0).data;
  cases.run("in place", call);
  cases.expect(9, expected);
}

TEST(LayerNormKernel, Refuses) {
  const auto make = [] {
    Random random(4);
    return call_of(kCases[2], random);
  };
  expect_refusals(
      make, {
                {0, "must be int8", type(0, ScalarType::u8)},
                {0, "must have a dimension", rank(0, 0)},
                {0, "must be stored in the order of its dimensions", order(0, {0, 2, 3, 1})},
                {9, "must be int8", type(9, ScalarType::u8)},
                {9, "must have the sizes and the order of the input", size(9, 1, 4)},
                {9, "must have the sizes and the order of the input", size(0, 3, 6)},
                {2, "must be int32", type(2, ScalarType::f32)},
                {3, "must be -128..127", number(3, 128)},
                {4, "must be -128..127", number(4, -129)},
                {6, "must be 0..16 and even", number(6, 3)},
                {6, "must be 0..16 and even", number(6, 18)},
                {6, "must be 0..16 and even", number(6, -2)},
                {7, "does not leave room for the variance", number(7, -1)},
                {7, "does not leave room for the variance", number(7, (int64_t{1} << 62) - 1)},
                {8, "must be 0..40", number(8, 41)},
                {8, "must be 0..40", number(8, -1)},
            });
}

TEST(LayerNormKernel, RefusesWeightsThatAreNoSlice) {
  Random random(4);
  Case k = kCases[0];
  k.columns = 12;
  const Status s = call_of(k, random).prepare();
  EXPECT_EQ(s.argument, 1);
  EXPECT_STREQ(s.detail, "must have an element for each of a slice of the input");
}

TEST(LayerNormKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kLayerNorm, "x8:2,3,5 x32c:5 x32c:5 i:2 i:-7 b:1 i:16 i:1000 i:24 x8:2,3,5");
}

}  // namespace layer_norm_test
}  // namespace deuteron
