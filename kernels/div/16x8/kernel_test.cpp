// SPDX-License-Identifier: Apache-2.0
// div_16x8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/div/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/div/16x8/reference.h"

namespace deuteron {
namespace div_16x8_test {

TestCall call_of(const Div16x8Args& a, Random& random) {
  return pair_of_int16(kDiv16x8, a.count, {a.multiplier, a.shift, a.y_min, a.y_max}, random);
}

TEST(Div16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Div16x8Args table[] = {
      {64, 1234567890, 14, -32768, 32767},  {600, 2147483647, 0, -32768, 32767},
      {600, 1073741824, 15, -32768, 32767}, {90, 1500000000, 9, 0, 32767},
      {50, 1999999999, -31, -100, 100},     {7, 0, 0, -32768, 32767},
  };
  uint32_t seed = 1;
  for (const Div16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.count) + " elements", call);
    cases.expect(6, expected_of_pair(call, a.count, [&](int16_t x, int16_t other) {
                   return div_16x8_reference(a, x, other);
                 }));
  }
}

// Each divisor that an int16 can be, by numbers of few and of many bits; a divisor of 0 gives 0.
TEST(Div16x8Kernel, EqualsTheReferenceForEveryDivisor) {
  const Div16x8Args a{65536, 1518500250, 12, -32768, 32767};
  std::vector<int16_t> other;
  for (int32_t d = -32768; d <= 32767; ++d) other.push_back(static_cast<int16_t>(d));
  for (const int16_t x : std::vector<int16_t>{-32768, -1, 0, 1, 700, 32767}) {
    const std::vector<int16_t> numerators(other.size(), x);
    std::vector<int16_t> found(other.size()), expected;
    div_16x8(a, numerators.data(), other.data(), found.data());
    for (const int16_t d : other) expected.push_back(div_16x8_reference(a, x, d));
    EXPECT_EQ(found, expected) << x;
  }
}

TEST(Div16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 2000000000, 11, -32768, 32767}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {6, "must be int16", type(6, ScalarType::s8)},
                            {1, "must have the sizes and the order of the input", size(1, 0, 19)},
                            {6, "must have the sizes and the order of the input", size(6, 0, 19)},
                            {2, "is out of range", number(2, -1)},
                            {3, "must be -31..15", number(3, 16)},
                            {4, "must be -32768..32767", number(4, -32769)},
                            {5, "must be activation_min..32767", number(5, 32768)},
                        });
}

TEST(Div16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kDiv16x8, "x16:3,5 x16:3,5 i:2000000000 i:11 i:-32768 i:32767 x16:3,5");
}

}  // namespace div_16x8_test
}  // namespace deuteron
