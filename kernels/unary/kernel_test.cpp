// SPDX-License-Identifier: Apache-2.0
// lookup_s8 on every value and in place; and what prepare() refuses.
#include "kernels/unary/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/unary/reference.h"

namespace deuteron {
namespace unary_test {

TestCall call_of(Random& random) {
  TestCall call(kQuantizedActivation);
  Tensor& x = call.tensor(ScalarType::s8, {1, 3, 5, 67}, {0, 2, 3, 1});
  for (int32_t i = 0; i < x.numel; ++i) data_of<int8_t>(x)[i] = static_cast<int8_t>(i % 256 - 128);
  Tensor& table = call.tensor(ScalarType::s8, {256});
  random.fill(table);
  table.constant = true;
  call.tensor(ScalarType::s8, {1, 3, 5, 67}, {0, 2, 3, 1});
  return call;
}

TEST(LookupKernel, EqualsTheReferenceAlsoInPlace) {
  KernelCases cases;
  EXPECT_TRUE(kQuantizedActivation.in_place);
  for (const bool in_place : {false, true}) {
    Random random(1);
    TestCall call = call_of(random);
    std::vector<int8_t> expected(1005);
    lookup_reference(1005, data_of<int8_t>(call.tensor_at(1)), data_of<int8_t>(call.tensor_at(0)),
                     expected.data());
    if (in_place) call.tensor_at(2).data = call.tensor_at(0).data;
    cases.run(in_place ? "in place" : "a table", call);
    cases.expect(2, expected);
  }
}

TEST(LookupKernel, Refuses) {
  const auto make = [] {
    Random random(2);
    return call_of(random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8", type(0, ScalarType::u8)},
                      {1, "must have 256 int8 entries", elements(1, 255)},
                      {1, "must be int8", type(1, ScalarType::s16)},
                      {2, "must be int8", type(2, ScalarType::s16)},
                      {2, "must have the sizes and the order of the input", size(2, 3, 66)},
                      {2, "must have the sizes and the order of the input", order(2, {0, 1, 2, 3})},
                  });
}

}  // namespace unary_test
}  // namespace deuteron
