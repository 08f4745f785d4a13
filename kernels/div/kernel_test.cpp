// SPDX-License-Identifier: Apache-2.0
// div_s8 and div_s16 against the reference, bit for bit: all pairs of int8 values, int16 at random,
// in place; and refusals.
#include "kernels/div/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/div/reference.h"

namespace deuteron {
namespace div_test {

TestCall call_of(ScalarType type, const DivArgs& a, const std::vector<int32_t>& sizes,
                 const std::vector<uint8_t>& order = {}) {
  TestCall call(kQuantizedDiv);
  call.tensor(type, sizes, order);
  call.integer(a.x_zero);
  call.tensor(type, sizes, order);
  call.integer(a.other_zero);
  call.integer(a.y_zero);
  call.real(static_cast<double>(a.scale));
  call.tensor(type, sizes, order);
  return call;
}

TEST(DivKernel, EqualsTheReferenceOnEveryPairOfValues) {
  KernelCases cases;
  for (const DivArgs& a :
       {DivArgs{65536, -128, -128, -128, 213.851f}, DivArgs{65536, 3, -7, 21, 0.5f},
        DivArgs{65536, 0, 0, 0, 1.0f}, DivArgs{65536, 127, 5, 127, -33.25f},
        DivArgs{65536, 0, 1, -128, 3e38f}, DivArgs{65536, 1, 0, 0, 0.0f}})
    for (const int in_place : {-1, 0, 2}) {
      TestCall call = call_of(ScalarType::s8, a, {256, 256});
      for (int i = 0; i < 65536; ++i) {
        data_of<int8_t>(call.tensor_at(0))[i] = static_cast<int8_t>(i / 256 - 128);
        data_of<int8_t>(call.tensor_at(2))[i] = static_cast<int8_t>(i % 256 - 128);
      }
      std::vector<int8_t> expected(65536);
      div_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(2)),
                    expected.data());
      if (in_place >= 0) call.tensor_at(6).data = call.tensor_at(in_place).data;
      cases.run("all pairs, scale " + std::to_string(a.scale) + ", in place of " +
                    std::to_string(in_place),
                call);
      cases.expect(6, expected);
    }
}

TEST(DivKernel, EqualsTheReferenceInInt16) {
  KernelCases cases;
  Random random(1);
  for (const DivArgs& a : {DivArgs{60000, 0, 0, 0, 213.851f}, DivArgs{60000, -3000, 70, 21, 1.0f},
                           DivArgs{60000, 32767, -32768, -32768, 9999.5f}}) {
    TestCall call = call_of(ScalarType::s16, a, {60000});
    for (const int operand : {0, 2})
      for (int i = 0; i < 60000; ++i)
        data_of<int16_t>(call.tensor_at(operand))[i] =
            static_cast<int16_t>(random.in(-32768, 32767));
    std::vector<int16_t> expected(60000);
    div_reference(a, data_of<int16_t>(call.tensor_at(0)), data_of<int16_t>(call.tensor_at(2)),
                  expected.data());
    cases.run("s16, scale " + std::to_string(a.scale), call);
    cases.expect(6, expected);
  }
}

TEST(DivKernel, Refuses) {
  const auto make = [] {
    return call_of(ScalarType::s8, {0, 3, -7, 21, 0.5f}, {2, 3, 4, 5}, {0, 2, 3, 1});
  };
  expect_refusals(make,
                  {
                      {2, "must have the sizes and the order of the input", order(2, {0, 1, 2, 3})},
                      {6, "must have the sizes and the order of the input", order(6, {0, 1, 2, 3})},
                      {2, "must have the sizes and the order of the input", size(2, 1, 1)},
                      {6, "must have the sizes and the order of the input", size(6, 1, 4)},
                      {6, "must be int8 or int16", type(6, ScalarType::f32)},
                      {0, "must be int16", type(6, ScalarType::s16)},
                      {2, "must be int8", type(2, ScalarType::u8)},
                      {1, "must be -128..127", number(1, -129)},
                      {3, "must be -128..127", number(3, -129)},
                      {4, "must be -128..127", number(4, -129)},
                      {5, "must be finite", real(5, std::nan(""))},
                      {5, "must be finite", real(5, 1e39)},
                  });
}

}  // namespace div_test
}  // namespace deuteron
