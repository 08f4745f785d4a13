// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_add and its binding against its formula: all pairs of values, both kinds of
// operands, in place; and refusals.
#include "kernels/linear/packed_add/kernel.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"

namespace deuteron {
namespace linear_add_test {

constexpr LinearAddArgs kSettings[] = {
    {0, 0, 639146, 1934525, -30602907},       // of resnet8
    {0, 0, -700001, 500003, 524288},          // a subtraction
    {0, 0, 1 << 20, 1 << 20, 0},              // no scale at all
    {0, 0, INT32_MAX, INT32_MIN, INT32_MAX},  // sums that wrap
};

int8_t sum_of(const LinearAddArgs& a, int8_t x, int8_t other, int right = kLinearAddRight) {
  const int64_t sum = int64_t{x} * a.x_factor + int64_t{other} * a.other_factor + a.first;
  const double wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
  return static_cast<int8_t>(std::clamp(std::floor(wrapped / (1 << right)), -128.0, 127.0));
}

TestCall call_of(const LinearAddArgs& a, const std::vector<int32_t>& x,
                 const std::vector<int32_t>& other, const std::vector<int32_t>& out,
                 const std::vector<uint8_t>& order, Random& random,
                 const Kernel& kernel = kLinearAdd) {
  TestCall call(kernel);
  random.fill(call.tensor(ScalarType::s8, x, order));
  random.fill(call.tensor(ScalarType::s8, other, order));
  for (int32_t v : {a.x_factor, a.other_factor, a.first}) call.integer(v);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

std::vector<int8_t> expected_of(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                                int count, int period, bool swapped, int right = kLinearAddRight) {
  std::vector<int8_t> y;
  for (int i = 0; i < count; ++i)
    y.push_back(swapped ? sum_of(a, other[i % period], x[i], right)
                        : sum_of(a, x[i], other[i % period], right));
  return y;
}

TEST(LinearAddKernel, EqualsItsFormulaOnEveryPairOfValues) {
  for (const int right : {kLinearAddRight, kLinearAddQ21Right}) {
    KernelCases cases;
    for (const LinearAddArgs& a : kSettings) {
      Random random(1);
      TestCall call = call_of(a, {256, 256}, {256, 256}, {256, 256}, {}, random,
                              right == kLinearAddRight ? kLinearAdd : kLinearAddQ21);
      int8_t *x = data_of<int8_t>(call.tensor_at(0)), *other = data_of<int8_t>(call.tensor_at(1));
      for (int i = 0; i < 65536; ++i)
        x[i] = static_cast<int8_t>(i / 256 - 128), other[i] = static_cast<int8_t>(i % 256 - 128);
      cases.run("all pairs >> " + std::to_string(right) + ", first " + std::to_string(a.first),
                call);
      cases.expect(5, expected_of(a, x, other, 65536, 65536, false, right));
    }
  }
}

TEST(LinearAddKernel, HasAFormWithOneBitMore) {
  KernelCases cases;
  for (const LinearAddArgs& a : kSettings) {
    TestCall call(kLinearAddQ21);
    call.tensor(ScalarType::s8, {256, 256}), call.tensor(ScalarType::s8, {256, 256});
    int8_t *x = data_of<int8_t>(call.tensor_at(0)), *other = data_of<int8_t>(call.tensor_at(1));
    for (int32_t v : {a.x_factor, a.other_factor, a.first}) call.integer(v);
    call.tensor(ScalarType::s8, {256, 256});
    std::vector<int8_t> expected;
    for (int i = 0; i < 65536; ++i) {
      x[i] = static_cast<int8_t>(i / 256 - 128), other[i] = static_cast<int8_t>(i % 256 - 128);
      expected.push_back(sum_of(a, x[i], other[i], kLinearAddQ21Right));
    }
    cases.run("all pairs with 21 bits, first " + std::to_string(a.first), call);
    cases.expect(5, expected);
  }
  expect_inside(kLinearAddQ21,
                "x8:2,5,3,4:0231 x8:1,5,1,1:0231 i:639146 i:1934525 i:-30602907 x8:2,5,3,4:0231");
}

TEST(LinearAddKernel, RepeatsAValueForEachChannel) {
  KernelCases cases;
  for (const int32_t channels : {1, 3, 5, 8, 13})
    for (const bool first_is_short : {false, true}) {
      Random random(2);
      const std::vector<int32_t> image{3, channels, 2, 7}, values{1, channels, 1, 1};
      TestCall call = call_of(kSettings[0], first_is_short ? values : image,
                              first_is_short ? image : values, image, {0, 2, 3, 1}, random);
      cases.run(std::string("a value for each channel, ") +
                    (first_is_short ? "first operand" : "second operand"),
                call);
      const int8_t *x = data_of<int8_t>(call.tensor_at(first_is_short ? 1 : 0)),
                   *other = data_of<int8_t>(call.tensor_at(first_is_short ? 0 : 1));
      cases.expect(5, expected_of(kSettings[0], x, other, 42 * channels, channels, first_is_short));
    }
}

TEST(LinearAddKernel, WorksInPlaceOfEitherOperand) {
  KernelCases cases;
  EXPECT_TRUE(kLinearAdd.in_place);
  for (const int place : {0, 1}) {
    Random random(3);
    TestCall call = call_of(kSettings[1], {3, 67}, {3, 67}, {3, 67}, {}, random);
    const std::vector<int8_t> expected =
        expected_of(kSettings[1], data_of<int8_t>(call.tensor_at(0)),
                    data_of<int8_t>(call.tensor_at(1)), 201, 201, false);
    call.tensor_at(5).data = call.tensor_at(place).data;
    cases.run("in place of argument " + std::to_string(place), call);
    cases.expect(5, expected);
  }
}

TEST(LinearAddKernel, RefusesWhatWouldLeaveATensor) {
  const auto make = [] {
    Random random(4);
    return call_of(kSettings[0], {2, 5, 3, 4}, {2, 5, 3, 4}, {2, 5, 3, 4}, {0, 2, 3, 1}, random);
  };
  expect_refusals(make, {
                            {1, "must be stored in the order of the first", order(1, {0, 1, 2, 3})},
                            {5, "must have the sizes and the order of the longer operand",
                             order(5, {0, 1, 2, 3})},
                            {0, "must be int8", type(0, ScalarType::s16)},
                            {1, "must be int8", type(1, ScalarType::u8)},
                            {5, "must be int8", type(5, ScalarType::f32)},
                            {2, "is out of range", number(2, int64_t{1} << 31)},
                            {3, "is out of range", number(3, -(int64_t{1} << 31) - 1)},
                            {4, "is out of range", number(4, int64_t{1} << 40)},
                        });
}

TEST(LinearAddKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kLinearAdd,
                "x8:2,5,3,4:0231 x8:1,5,1,1:0231 i:639146 i:1934525 i:-30602907 x8:2,5,3,4:0231");
  expect_inside(kLinearAddQ21,
                "x8:2,5,3,4:0231 x8:1,5,1,1:0231 i:639146 i:1934525 i:-30602907 x8:2,5,3,4:0231");
}

}  // namespace linear_add_test
}  // namespace deuteron
