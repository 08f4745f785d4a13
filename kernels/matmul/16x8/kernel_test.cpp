// SPDX-License-Identifier: Apache-2.0
// matmul_16x8 and its binding against the reference, bit for bit; and refusals.
#include "kernels/matmul/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/conv2d/16x8/reference.h"

namespace deuteron {
namespace matmul_16x8_test {

TestCall call_of(const Matmul16x8Args& a, Random& random) {
  TestCall call(kMatmul16x8);
  add_int16(call, random, {a.batch, a.rows, a.inner});
  add_int16(call, random, {a.batch, a.columns, a.inner});
  for (const int32_t v : {a.multiplier, a.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s16, {a.batch, a.rows, a.columns});
  return call;
}

TEST(Matmul16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  const Matmul16x8Args table[] = {
      {1, 3, 5, 7, 32767, 34, -32768, 32767}, {3, 2, 4, 130, 20000, 36, -32768, 32767},
      {2, 1, 1, 1, 1, 15, -32768, 32767},     {1, 4, 3, 2000, 16384, 46, 0, 9000},
      {1, 2, 2, 3, 0, 8, -32768, 32767},      {1, 2, 3, 40, 32767, 1, -32768, 32767},
  };
  uint32_t seed = 1;
  for (const Matmul16x8Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.inner) + " products", call);
    const auto *x = data_of<int16_t>(call.tensor_at(0)),
               *other = data_of<int16_t>(call.tensor_at(1));
    std::vector<int16_t> expected;
    for (int32_t b = 0; b < a.batch; ++b)
      for (int32_t m = 0; m < a.rows; ++m)
        for (int32_t n = 0; n < a.columns; ++n) {
          int64_t sum = 0;
          for (int32_t k = 0; k < a.inner; ++k)
            sum += int64_t{x[(b * a.rows + m) * a.inner + k]} *
                   other[(b * a.columns + n) * a.inner + k];
          expected.push_back(
              clamped_16x8(wrap32_reference(requantize_16x8_reference(sum, a.multiplier, a.shift)),
                           a.y_min, a.y_max));
        }
    cases.expect(6, expected);
  }
}

TEST(Matmul16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 3, 4, 5, 20000, 30, -32768, 32767}, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int16", type(0, ScalarType::s8)},
                      {1, "must have the batch and the inner extent of the first", size(1, 2, 4)},
                      {6, "must have the rows of both operands", size(6, 1, 2)},
                      {2, "must be 0..32767", number(2, 32768)},
                      {3, "must be 1..46", number(3, 0)},
                      {3, "must be 1..46", number(3, 47)},
                      {4, "must be -32768..32767", number(4, -32769)},
                  });
}

TEST(Matmul16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kMatmul16x8, "x16:2,3,5 x16:2,4,5 i:20000 i:30 i:-32768 i:32767 x16:2,3,4");
}

}  // namespace matmul_16x8_test
}  // namespace deuteron
