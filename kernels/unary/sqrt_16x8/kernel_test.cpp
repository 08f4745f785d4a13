// SPDX-License-Identifier: Apache-2.0
// sqrt_16x8 of every step against its definition, each float32 operation forced to round on its
// own; its binding, and refusals.
#include "kernels/unary/sqrt_16x8/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"

namespace deuteron {
namespace sqrt_16x8_test {

TestCall call_of(const Sqrt16x8Args& a, Random& random) {
  TestCall call(kSqrt16x8);
  add_int16(call, random, {a.count});
  for (const float v : {a.x_scale, a.y_scale}) call.real(static_cast<double>(v));
  call.tensor(ScalarType::s16, {a.count});
  return call;
}

int16_t expected_of(const Sqrt16x8Args& a, int16_t x) {
  if (x < 0) return 0;
  const volatile float real = a.x_scale * static_cast<float>(x);
  const volatile float root = std::sqrt(real);
  const volatile float steps = root / a.y_scale;
  return static_cast<int16_t>(std::fmin(std::floor(static_cast<double>(steps)), 32767));
}

TEST(Sqrt16x8Kernel, EqualsTheDefinitionInEveryStep) {
  KernelCases cases;
  for (const Sqrt16x8Args& a :
       {Sqrt16x8Args{65536, 3e-4f, 1e-4f}, Sqrt16x8Args{65536, 1, 1},
        Sqrt16x8Args{65536, 0.0625f, 3e-6f}, Sqrt16x8Args{65536, 1e-38f, 3e38f},
        Sqrt16x8Args{65536, 3e38f, 1e-38f}}) {
    Random random(1);
    TestCall call = call_of(a, random);
    std::vector<int16_t> expected;
    for (int32_t i = 0; i < a.count; ++i) {
      data_of<int16_t>(call.tensor_at(0))[i] = static_cast<int16_t>(i - 32768);
      expected.push_back(expected_of(a, static_cast<int16_t>(i - 32768)));
    }
    cases.run("scales " + std::to_string(a.x_scale) + ", " + std::to_string(a.y_scale), call);
    cases.expect(3, expected);
  }
}

TEST(Sqrt16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({20, 0.001f, 0.002f}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {3, "must be int16", type(3, ScalarType::s8)},
                            {3, "must have the sizes and the order of the input", size(3, 0, 19)},
                            {1, "must be positive and finite", real(1, 0)},
                            {2, "must be positive and finite", real(2, -1)},
                            {2, "must be positive and finite", real(2, 1e39)},
                        });
}

TEST(Sqrt16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kSqrt16x8, "x16:3,5 f:0.001 f:0.002 x16:3,5");
}

}  // namespace sqrt_16x8_test
}  // namespace deuteron
