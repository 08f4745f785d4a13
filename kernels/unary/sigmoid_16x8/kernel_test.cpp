// SPDX-License-Identifier: Apache-2.0
// sigmoid_16x8 of both functions and its binding against the reference, bit for bit; and refusals.
#include "kernels/unary/sigmoid_16x8/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/unary/sigmoid_16x8/reference.h"

namespace deuteron {
namespace sigmoid_16x8_test {

std::vector<int16_t> table() {
  std::vector<int16_t> t;
  for (int32_t i = 0; i < kSigmoid16x8Entries; ++i)
    t.push_back(static_cast<int16_t>(
        static_cast<uint16_t>(std::lround(65535 / (1 + std::exp(-i / 24.0))))));
  return t;
}

TestCall call_of(const Sigmoid16x8Args& a, bool is_tanh, Random& random) {
  TestCall call(kSigmoid16x8);
  add_int16(call, random, {a.count});
  add_constant(call, ScalarType::s16, table());
  call.integer(a.multiplier);
  call.integer(a.shift);
  call.boolean(is_tanh);
  call.tensor(ScalarType::s16, {a.count});
  return call;
}

TEST(Sigmoid16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Sigmoid16x8Args ratios[] = {{300, 3, 0},    {300, 6, 0}, {300, 25400, 12}, {300, 16384, 31},
                                    {37, 65535, 0}, {5, 0, 0},   {90, 32767, 9}};
  uint32_t seed = 1;
  for (const Sigmoid16x8Args& a : ratios)
    for (const bool is_tanh : {false, true}) {
      Random random(seed++);
      TestCall call = call_of(a, is_tanh, random);
      cases.run(std::to_string(a.multiplier) + " of shift " + std::to_string(a.shift), call);
      std::vector<int16_t> expected;
      for (int32_t i = 0; i < a.count; ++i)
        expected.push_back(sigmoid_16x8_reference(a, is_tanh,
                                                  data_of<int16_t>(call.tensor_at(0))[i],
                                                  data_of<int16_t>(call.tensor_at(1))));
      cases.expect(5, expected);
    }
}

TEST(Sigmoid16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 25400, 12}, true, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {5, "must have the sizes and the order of the input", size(5, 0, 19)},
                            {1, "must be int16", type(1, ScalarType::s32)},
                            {1, "must have 256 entries", elements(1, 255)},
                            {1, "must be a constant", not_constant(1)},
                            {2, "must be 0..65535", number(2, 65536)},
                            {3, "must be 0..31", number(3, 32)},
                        });
}

TEST(Sigmoid16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kSigmoid16x8, "x16:3,5 x16c:256 i:25400 i:12 b:1 x16:3,5");
}

}  // namespace sigmoid_16x8_test
}  // namespace deuteron
