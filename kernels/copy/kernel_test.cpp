// SPDX-License-Identifier: Apache-2.0
// The call deuteron::copy: the bytes of any type and order; and refusals.
#include "kernels/copy/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace copy_test {

TEST(CopyKernel, MovesEveryByte) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const int32_t columns : {1, 3, 16, 67})
    for (const int32_t channels : {1, 5, 32}) {
      Random random(seed++);
      TestCall call(kCopy);
      random.fill(call.image(1, 3, columns, channels));
      call.image(1, 3, columns, channels);
      cases.run(std::to_string(columns) + " columns", call);
      cases.expect(1, contents<int8_t>(call.tensor_at(0)));
    }
  Random random(seed);
  TestCall words(kCopy);
  Tensor& x = words.tensor(ScalarType::s32, {7, 3});
  for (int32_t k = 0; k < x.numel; ++k)
    static_cast<int32_t*>(x.data)[k] = random.in(INT32_MIN, INT32_MAX);
  words.tensor(ScalarType::s32, {7, 3});
  cases.run("words", words);
  cases.expect(1, contents<int32_t>(words.tensor_at(0)));
}

TEST(CopyKernel, Refuses) {
  const auto make = [] {
    TestCall call(kCopy);
    Random(1).fill(call.image(1, 4, 3, 5));
    call.image(1, 4, 3, 5);
    return call;
  };
  expect_refusals(make,
                  {
                      {1, "must have the input's dtype", type(1, ScalarType::s16)},
                      {1, "must have the sizes and the order of the input", size(1, 1, 3)},
                      {1, "must have the sizes and the order of the input", order(1, {0, 1, 2, 3})},
                  });
}

TEST(CopyKernel, StaysInsideItsTensors) {
  expect_inside(kCopy, "x8:1,5,40,3:0231 x8:1,5,40,3:0231");
}

}  // namespace copy_test
}  // namespace deuteron
