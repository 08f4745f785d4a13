// SPDX-License-Identifier: Apache-2.0
// compared_16x8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/compare/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {
namespace compared_16x8_test {

TestCall call_of(const Compared16x8Args& a, Random& random) {
  TestCall call(kCompared16x8);
  add_int16(call, random, {a.count});
  for (const int32_t v : {a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::s32, {a.count});
  return call;
}

TEST(Compared16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Compared16x8Args table[] = {
      {64, 1234567890, -9},  {37, 2147483647, 0}, {500, 1073741824, -7},
      {90, 1999999999, -14}, {3, 0, 0},           {41, 1500000000, -31}};
  uint32_t seed = 1;
  for (const Compared16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.count) + " elements", call);
    std::vector<int32_t> expected;
    for (int32_t i = 0; i < a.count; ++i)
      expected.push_back(static_cast<int32_t>(requantize_reference(
          data_of<int16_t>(call.tensor_at(0))[i] * 256, a.multiplier, a.shift)));
    cases.expect(3, expected);
  }
}

TEST(Compared16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 2000000000, -15}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {3, "must be int32", type(3, ScalarType::s16)},
                            {3, "must have the sizes and the order of the input", size(3, 0, 19)},
                            {1, "is out of range", number(1, -1)},
                            {2, "must be -31..0", number(2, 1)},
                        });
}

TEST(Compared16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kCompared16x8, "x16:3,5 i:2000000000 i:-15 x32:3,5");
}

}  // namespace compared_16x8_test
}  // namespace deuteron
