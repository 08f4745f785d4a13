// SPDX-License-Identifier: Apache-2.0
// add_16x8, shifted_add_16x8 and their binding against the reference, bit for bit; and refusals.
#include "kernels/add/16x8/kernel.h"

#include "kernels/add/16x8/reference.h"
#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"

namespace deuteron {
namespace add_16x8_test {

TestCall call_of(const Add16x8Args& a, Random& random) {
  return pair_of_int16(kAdd16x8, a.count,
                       {a.x_multiplier, a.x_shift, a.other_multiplier, a.other_shift,
                        a.y_multiplier, a.y_shift, a.y_min, a.y_max},
                       random);
}

TEST(Add16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Add16x8Args table[] = {
      {64, 1073741824, 0, 1234567890, -3, 1900000000, -14, -32768, 32767},
      {37, 2000000000, -1, -1073741824, 0, 1500000000, -13, -32768, 32767},
      {11, 1073741824, -7, 1073741824, 0, 1073741824, -13, 0, 9000},
      {5, 1073741824, 0, 1073741824, 0, 2147483647, 3, -32768, 32767},
      {3, 0, 0, -1, -31, 1073741824, -20, -5, 5},
  };
  uint32_t seed = 1;
  for (const Add16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.count) + " elements", call);
    cases.expect(10, expected_of_pair(call, a.count, [&](int16_t x, int16_t other) {
                   return add_16x8_reference(a, x, other);
                 }));
  }
}

TEST(ShiftedAdd16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const ShiftedAdd16x8Args table[] = {{64, 0, 1, 1, -32768, 32767},
                                      {37, 5, 0, -1, -32768, 32767},
                                      {11, 0, 0, 1, 0, 9000},
                                      {5, 15, 0, -1, -32768, 32767}};
  uint32_t seed = 1;
  for (const ShiftedAdd16x8Args& a : table) {
    Random random(seed++);
    TestCall call = pair_of_int16(kShiftedAdd16x8, a.count,
                                  {a.x_shift, a.other_shift, a.sign, a.y_min, a.y_max}, random);
    cases.run(std::to_string(a.count) + " elements", call);
    cases.expect(7, expected_of_pair(call, a.count, [&](int16_t x, int16_t other) {
                   return shifted_add_16x8_reference(a, x, other);
                 }));
  }
}

TEST(Add16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 1073741824, 0, 1234567890, -3, 1900000000, -14, -32768, 32767}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {1, "must have the sizes and the order of the input", size(1, 0, 19)},
                            {10, "must have the sizes and the order of the input", size(10, 0, 19)},
                            {2, "is out of range", number(2, int64_t{1} << 31)},
                            {3, "must be -31..30", number(3, 31)},
                            {6, "is out of range", number(6, INT32_MIN)},
                            {8, "must be -32768..32767", number(8, -32769)},
                            {9, "must be activation_min..32767", number(9, 32768)},
                        });
}

TEST(ShiftedAdd16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return pair_of_int16(kShiftedAdd16x8, 20, {0, 3, 1, -32768, 32767}, random);
  };
  expect_refusals(make, {
                            {7, "must be int16", type(7, ScalarType::s8)},
                            {2, "must be 0..15", number(2, -1)},
                            {3, "must be 0..15", number(3, 16)},
                            {4, "must be 1 or -1", number(4, 0)},
                            {5, "must be -32768..32767", number(5, -32769)},
                        });
}

TEST(Add16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kAdd16x8,
                "x16:3,5 x16:3,5 i:1073741824 i:0 i:1234567890 i:-3 i:1900000000 i:-14 i:-32768 "
                "i:32767 x16:3,5");
}
TEST(ShiftedAdd16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kShiftedAdd16x8, "x16:3,5 x16:3,5 i:0 i:3 i:1 i:-32768 i:32767 x16:3,5");
}

}  // namespace add_16x8_test
}  // namespace deuteron
