// SPDX-License-Identifier: Apache-2.0
// mul_16x8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/mul/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/mul/16x8/reference.h"

namespace deuteron {
namespace mul_16x8_test {

TestCall call_of(const Mul16x8Args& a, Random& random) {
  return pair_of_int16(kMul16x8, a.count, {a.multiplier, a.shift, a.y_min, a.y_max}, random);
}

TEST(Mul16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Mul16x8Args table[] = {
      {64, 1234567890, -14, -32768, 32767}, {37, 2147483647, -15, -32768, 32767},
      {11, 1073741824, 0, -100, 100},       {90, 1500000000, -1, 0, 32767},
      {5, 1999999999, 3, -32768, 32767},    {3, 0, -31, -32768, 32767},
  };
  uint32_t seed = 1;
  for (const Mul16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.count) + " elements", call);
    cases.expect(6, expected_of_pair(call, a.count, [&](int16_t x, int16_t other) {
                   return mul_16x8_reference(a, x, other);
                 }));
  }
}

TEST(Mul16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 2000000000, -15, -32768, 32767}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {6, "must be int16", type(6, ScalarType::s8)},
                            {1, "must have the sizes and the order of the input", size(1, 0, 19)},
                            {6, "must have the sizes and the order of the input", size(6, 0, 19)},
                            {2, "is out of range", number(2, -1)},
                            {3, "must be -31..30", number(3, 31)},
                            {4, "must be -32768..32767", number(4, -32769)},
                            {5, "must be activation_min..32767", number(5, 32768)},
                        });
}

TEST(Mul16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kMul16x8, "x16:3,5 x16:3,5 i:2000000000 i:-15 i:-32768 i:32767 x16:3,5");
}

}  // namespace mul_16x8_test
}  // namespace deuteron
