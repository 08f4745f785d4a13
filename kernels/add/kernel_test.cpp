// SPDX-License-Identifier: Apache-2.0
// add_s8 and its binding against the reference, bit for bit: all pairs of values, both kinds of
// operands, in place; and refusals.
#include "kernels/add/kernel.h"

#include "kernels/add/reference.h"
#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace add_test {

constexpr AddArgs kSettings[] = {
    {0,
     0,
     {-128, 1118190138, -2},
     {31, 1073741824, 0},
     {14, 2051533446, -19},
     -128,
     127},  // an instruction of a stock file
    {0,
     0,
     {5, 1073741824, 0},
     {-7, -1395186471, -1},
     {0, 1234567890, -18},
     -128,
     127},  // a subtraction
    {0, 0, {127, 2147483647, 0}, {-128, 1073741824, 0}, {-128, 1500000000, -20}, -100, 90},
    {0,
     0,
     {-128, 2147483647, 30},
     {127, 2147483647, 3},
     {127, 2147483647, 30},
     -128,
     127},  // sums that wrap
    {0, 0, {0, 0, 0}, {0, 1073741824, -31}, {-1, 1073741824, -31}, -128, 127},
};

TestCall call_of(const AddArgs& a, const std::vector<int32_t>& x, const std::vector<int32_t>& other,
                 const std::vector<int32_t>& out, const std::vector<uint8_t>& order,
                 Random& random) {
  TestCall call(kQuantizedAdd);
  const auto operand = [&](const std::vector<int32_t>& sizes, const Rescale& r) {
    random.fill(call.tensor(ScalarType::s8, sizes, order));
    for (int32_t v : {r.zero, r.multiplier, r.shift}) call.integer(v);
  };
  operand(x, a.x);
  operand(other, a.other);
  for (int32_t v : {a.y.zero, a.y.multiplier, a.y.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

TEST(AddKernel, EqualsTheReferenceOnEveryPairOfValues) {
  KernelCases cases;
  for (AddArgs a : kSettings) {
    Random random(1);
    TestCall call = call_of(a, {256, 256}, {256, 256}, {256, 256}, {}, random);
    for (int i = 0; i < 65536; ++i) {
      data_of<int8_t>(call.tensor_at(0))[i] = static_cast<int8_t>(i / 256 - 128);
      data_of<int8_t>(call.tensor_at(4))[i] = static_cast<int8_t>(i % 256 - 128);
    }
    cases.run("all pairs, y shift " + std::to_string(a.y.shift), call);
    a.count = a.period = 65536;
    std::vector<int8_t> expected(65536);
    add_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(4)),
                  expected.data());
    cases.expect(13, expected);
  }
}

TEST(AddKernel, RepeatsAValueForEachChannel) {
  KernelCases cases;
  for (AddArgs a : kSettings)
    for (const bool first_is_short : {false, true}) {
      Random random(2);
      const std::vector<int32_t> image{3, 5, 2, 7}, channels{1, 5, 1, 1};
      TestCall call = call_of(a, first_is_short ? channels : image,
                              first_is_short ? image : channels, image, {0, 2, 3, 1}, random);
      cases.run(std::string("a value for each channel, ") +
                    (first_is_short ? "first operand" : "second operand"),
                call);
      a.count = 210, a.period = 5;
      AddArgs turned = a;
      if (first_is_short) std::swap(turned.x, turned.other);
      std::vector<int8_t> expected(210);
      add_reference(turned, data_of<int8_t>(call.tensor_at(first_is_short ? 4 : 0)),
                    data_of<int8_t>(call.tensor_at(first_is_short ? 0 : 4)), expected.data());
      cases.expect(13, expected);
    }
}

TEST(AddKernel, WorksInPlaceOfEitherOperand) {
  KernelCases cases;
  EXPECT_TRUE(kQuantizedAdd.in_place);
  for (const int place : {0, 4}) {
    Random random(3);
    AddArgs a = kSettings[0];
    TestCall call = call_of(a, {3, 67}, {3, 67}, {3, 67}, {}, random);
    a.count = a.period = 201;
    std::vector<int8_t> expected(201);
    add_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(4)),
                  expected.data());
    call.tensor_at(13).data = call.tensor_at(place).data;
    cases.run("in place of argument " + std::to_string(place), call);
    cases.expect(13, expected);
  }
}

TEST(AddKernel, Refuses) {
  using Sizes = std::vector<int32_t>;
  const Sizes image{2, 5, 3, 4};
  const auto make = [&](const Sizes& x, const Sizes& other, const Sizes& out,
                        const std::vector<uint8_t>& order = {0, 2, 3, 1}) {
    Random random(4);
    return call_of(kSettings[0], x, other, out, order, random);
  };
  EXPECT_EQ(make(image, {1, 5, 1, 1}, image).refused(), -1);
  EXPECT_EQ(make(image, {1, 5, 1, 1}, image, {0, 1, 2, 3}).refused(),
            4);  // the channel is not innermost
  EXPECT_EQ(make(image, {1, 4, 1, 1}, image).refused(), 4);
  EXPECT_EQ(make(image, {1, 1, 1, 1}, image).refused(), 4);
  EXPECT_EQ(make(image, {2, 5, 1, 1}, image).refused(), 4);
  EXPECT_EQ(make(image, image, {2, 5, 4, 3}).refused(), 13);
  EXPECT_EQ(make(image, {1, 5, 1, 1}, {1, 5, 1, 1}).refused(), 13);
  expect_refusals(
      [&] { return make(image, image, image); },
      {
          {4, "must be stored in the order of the first", order(4, {0, 1, 2, 3})},
          {13, "must have the sizes and the order of the longer operand", order(13, {0, 1, 2, 3})},
          {0, "must be int8", type(0, ScalarType::s16)},
          {4, "must be int8", type(4, ScalarType::u8)},
          {13, "must be int8", type(13, ScalarType::f32)},
          {1, "must be -128..127", number(1, 128)},
          {5, "must be -128..127", number(5, 128)},
          {8, "must be -128..127", number(8, 128)},
          {2, "is out of range", number(2, int64_t{1} << 31)},
          {6, "is out of range", number(6, int64_t{1} << 31)},
          {9, "is out of range", number(9, int64_t{1} << 31)},
          {3, "must be -31..30", number(3, 31)},
          {7, "must be -31..30", number(7, 31)},
          {10, "must be -31..30", number(10, 31)},
          {11, "must be -128..127", number(11, -129)},
          {12, "must be activation_min..127", number(12, 300)},
      });
}

}  // namespace add_test
}  // namespace deuteron
