// SPDX-License-Identifier: Apache-2.0
// mul_s8 and its binding against the reference, bit for bit: all pairs of values, both kinds of
// operands, in place; and refusals.
#include "kernels/mul/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/mul/reference.h"

namespace deuteron {
namespace mul_test {

constexpr MulArgs kSettings[] = {
    {0, 0, -49, -128, -115, 1197340606, -6},  // an instruction of a stock file
    {0, 0, 5, -300, 7, 2000000000, -9},       // a zero point outside int8
    {0, 0, 127, 127, 0, 1073741824, -8},     {0, 0, -32768, 32767, 32767, 2147483647, 30},
    {0, 0, 0, 0, -128, 1073741824, -31},
};

TestCall call_of(const MulArgs& a, const std::vector<int32_t>& x, const std::vector<int32_t>& other,
                 const std::vector<int32_t>& out, const std::vector<uint8_t>& order,
                 Random& random) {
  TestCall call(kQuantizedMul);
  random.fill(call.tensor(ScalarType::s8, x, order));
  call.integer(a.x_zero);
  random.fill(call.tensor(ScalarType::s8, other, order));
  for (int32_t v : {a.other_zero, a.y_zero, a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

TEST(MulKernel, EqualsTheReferenceOnEveryPairOfValues) {
  KernelCases cases;
  for (MulArgs a : kSettings) {
    Random random(1);
    TestCall call = call_of(a, {256, 256}, {256, 256}, {256, 256}, {}, random);
    for (int i = 0; i < 65536; ++i) {
      data_of<int8_t>(call.tensor_at(0))[i] = static_cast<int8_t>(i / 256 - 128);
      data_of<int8_t>(call.tensor_at(2))[i] = static_cast<int8_t>(i % 256 - 128);
    }
    cases.run("all pairs, shift " + std::to_string(a.shift), call);
    a.count = a.period = 65536;
    std::vector<int8_t> expected(65536);
    mul_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(2)),
                  expected.data());
    cases.expect(7, expected);
  }
}

TEST(MulKernel, RepeatsAValueForEachChannelAndWorksInPlace) {
  KernelCases cases;
  EXPECT_TRUE(kQuantizedMul.in_place);
  for (MulArgs a : kSettings)
    for (const bool first_is_short : {false, true}) {
      Random random(2);
      const std::vector<int32_t> image{3, 5, 2, 7}, channels{1, 5, 1, 1};
      TestCall call = call_of(a, first_is_short ? channels : image,
                              first_is_short ? image : channels, image, {0, 2, 3, 1}, random);
      a.count = 210, a.period = 5;
      MulArgs turned = a;
      if (first_is_short) std::swap(turned.x_zero, turned.other_zero);
      Tensor& longer = call.tensor_at(first_is_short ? 2 : 0);
      std::vector<int8_t> expected(210);
      mul_reference(turned, data_of<int8_t>(longer),
                    data_of<int8_t>(call.tensor_at(first_is_short ? 0 : 2)), expected.data());
      cases.run("a value for each channel, shift " + std::to_string(a.shift), call);
      cases.expect(7, expected);
      call.tensor_at(7).data = longer.data;
      cases.run("the same in place", call);
      cases.expect(7, expected);
    }
}

TEST(MulKernel, Refuses) {
  const auto make = [&] {
    Random random(4);
    return call_of(kSettings[0], {2, 5, 3, 4}, {2, 5, 3, 4}, {2, 5, 3, 4}, {0, 2, 3, 1}, random);
  };
  expect_refusals(make,
                  {
                      {2,
                       "must have the sizes of the first, or one value for each channel of an "
                       "image stored channels-last",
                       size(2, 3, 3)},
                      {7, "must have the sizes and the order of the longer operand", size(7, 3, 3)},
                      {2,
                       "must have the sizes of the first, or one value for each channel of an "
                       "image stored channels-last",
                       rank(2, 3)},
                      {2, "must be int8", type(2, ScalarType::b8)},
                      {1, "must be -32768..32767", number(1, 32768)},
                      {3, "must be -32768..32767", number(3, 32768)},
                      {4, "must be -32768..32767", number(4, 32768)},
                      {5, "is out of range", number(5, INT32_MIN)},
                      {6, "must be -31..30", number(6, -32)},
                  });
}

}  // namespace mul_test
}  // namespace deuteron
