// SPDX-License-Identifier: Apache-2.0
// max_pool2d_s16 and its binding against the reference, bit for bit; and refusals.
#include "kernels/max_pool2d/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/max_pool2d/s16/reference.h"

namespace deuteron {
namespace max_pool2d_s16_test {

TestCall call_of(const MaxPool2dArgs& a, Random& random) {
  TestCall call(kMaxPool2dS16);
  Tensor& x = call.tensor(ScalarType::s16, {a.n, a.channels, a.in_h, a.in_w}, {0, 2, 3, 1});
  auto* to = static_cast<int16_t*>(x.data);
  for (const int32_t v : random.list(x.numel, -32768, 32767)) *to++ = static_cast<int16_t>(v);
  call.integers({a.kernel_h, a.kernel_w});
  call.integers({a.stride_h, a.stride_w});
  call.integers({a.pad_h, a.pad_w});
  call.integers({a.dilation_h, a.dilation_w});
  call.integer(a.y_min);
  call.integer(a.y_max);
  call.tensor(ScalarType::s16, {a.n, a.channels, a.out_h, a.out_w}, {0, 2, 3, 1});
  return call;
}

// n, in_h, in_w, channels, out_h, out_w, kernel, stride, pad, dilation, bounds
const MaxPool2dArgs kTable[] = {
    {1, 6, 4, 8, 3, 2, 2, 2, 2, 2, 0, 0, 1, 1, -32768, 32767},
    {2, 5, 7, 3, 5, 7, 3, 3, 1, 1, 1, 1, 1, 1, -300, 20000},
    {1, 5, 5, 70, 1, 1, 5, 5, 1, 1, 0, 0, 1, 1, -32768, 32767},
    {1, 4, 5, 6, 4, 3, 1, 3, 1, 2, 0, 1, 1, 1, 0, 32767},
    {1, 7, 9, 9, 3, 5, 3, 3, 1, 1, 0, 0, 2, 2, -32768, 32767},
    {3, 2, 3, 17, 2, 3, 4, 5, 1, 1, 2, 2, 1, 1, -32768, 32767},
};

TEST(MaxPool2dS16Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const MaxPool2dArgs& a : kTable) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.kernel_h) + "x" + std::to_string(a.kernel_w), call);
    std::vector<int16_t> expected(static_cast<size_t>(a.n * a.out_h * a.out_w * a.channels));
    max_pool2d_s16_reference(a, data_of<int16_t>(call.tensor_at(0)), expected.data());
    cases.expect(7, expected);
  }
}

TEST(MaxPool2dS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kTable[0], random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                            {7, "must be int16", type(7, ScalarType::s8)},
                            {7, "must have the channels of the input", size(7, 1, 7)},
                            {7, "has more windows than the input has places", size(7, 2, 9)},
                            {5, "must be -32768..32767", number(5, -32769)},
                            {6, "must be activation_min..32767", number(6, 40000)},
                        });
}

TEST(MaxPool2dS16Kernel, StaysInsideItsTensors) {
  expect_inside(kMaxPool2dS16,
                "x16:1,3,6,4:0231 l:2,2 l:2,2 l:0,1 l:1,1 i:-32768 i:32767 x16:1,3,3,2:0231");
}

}  // namespace max_pool2d_s16_test
}  // namespace deuteron
