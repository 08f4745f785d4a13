// SPDX-License-Identifier: Apache-2.0
// prod_16x8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/reduce/prod_16x8/kernel.h"

#include <algorithm>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {
namespace prod_16x8_test {

TestCall call_of(const Prod16x8Args& a, Random& random) {
  TestCall call(kProd16x8);
  add_int16(call, random, {a.outer, a.slice, a.inner});
  for (const int32_t v : {a.inner, a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::s16, {a.outer, a.inner});
  return call;
}

// (v * m + 2^(14 - shift)) / 2^(15 - shift) downwards; a product of 62 bits at most.
int64_t scaled_reference(int64_t v, const Prod16x8Args& a) {
  const int64_t m = std::min<int64_t>((int64_t{a.multiplier} + 32768) / 65536, 32767),
                d = int64_t{1} << (15 - a.shift);
  const int64_t sum = v * m + d / 2;
  return wrap32_reference(sum / d - (sum % d < 0 ? 1 : 0));
}

std::vector<int16_t> expected_of(const Prod16x8Args& a, const int16_t* x) {
  std::vector<int16_t> y;
  for (int32_t o = 0; o < a.outer; ++o)
    for (int32_t i = 0; i < a.inner; ++i) {
      const auto at = [&](int32_t k) { return x[(int64_t{o} * a.slice + k) * a.inner + i]; };
      int64_t product = at(0);
      for (int32_t k = 1; k < a.slice; ++k) product = scaled_reference(product * at(k), a);
      y.push_back(
          static_cast<int16_t>(std::clamp<int64_t>(scaled_reference(product, a), -32768, 32767)));
    }
  return y;
}

TEST(Prod16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Prod16x8Args table[] = {
      {2, 9, 5, 1234567890, -10}, {3, 1, 4, 1 << 30, 1},     {1, 700, 1, 1999999999, -14},
      {7, 3, 1, 1500000000, -12}, {1, 2, 11, 0, 0},          {2, 40, 3, 2147483647, 14},
      {5, 2, 2, 0x7ffeffff, -31}, {1, 4, 9, 0x7fff0000, -14}};
  uint32_t seed = 1;
  for (const Prod16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run("slices of " + std::to_string(a.slice), call);
    cases.expect(4, expected_of(a, data_of<int16_t>(call.tensor_at(0))));
  }
}

TEST(Prod16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 9, 5, 1234567890, -10}, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int16", type(0, ScalarType::s8)},
                      {4, "must be int16", type(4, ScalarType::s8)},
                      {1, "must divide the elements of the result", number(1, 3)},
                      {0, "must have as many elements for each of the result", elements(0, 91)},
                      {2, "is out of range", number(2, -1)},
                      {3, "must be -31..14", number(3, 15)},
                  });
}

TEST(Prod16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kProd16x8, "x16:2,9,5 i:5 i:1234567890 i:-3 x16:2,5");
}

}  // namespace prod_16x8_test
}  // namespace deuteron
