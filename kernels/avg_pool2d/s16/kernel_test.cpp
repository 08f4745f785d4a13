// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_s16 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "kernels/avg_pool2d/s16/kernel.h"

#include "kernels/avg_pool2d/s16/reference.h"
#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace avg_pool2d_s16_test {

TestCall call_of(const AvgPool2dS16Args& a, Random& random) {
  TestCall call(kAvgPool2dS16);
  Tensor& x = call.tensor(ScalarType::s16, {a.n, a.channels, a.in_h, a.in_w}, {0, 2, 3, 1});
  auto* to = static_cast<int16_t*>(x.data);
  for (const int32_t v : random.list(x.numel, -32768, 32767)) *to++ = static_cast<int16_t>(v);
  call.integers({a.kernel_h, a.kernel_w});
  call.integers({a.stride_h, a.stride_w});
  call.integers({a.pad_h, a.pad_w});
  call.tensor(ScalarType::s16, {a.n, a.channels, a.out_h, a.out_w}, {0, 2, 3, 1});
  return call;
}

TEST(AvgPool2dS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const AvgPool2dS16Args table[] = {
      {1, 6, 4, 8, 3, 2, 2, 2, 2, 2, 0, 0},
      {2, 5, 7, 3, 5, 7, 3, 3, 1, 1, 1, 1},
      {1, 5, 5, 70, 1, 1, 5, 5, 1, 1, 0, 0},
      {1, 4, 5, 6, 4, 3, 1, 3, 1, 2, 0, 1},
  };
  uint32_t seed = 1;
  for (const AvgPool2dS16Args& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.kernel_h) + "x" + std::to_string(a.kernel_w), call);
    std::vector<int16_t> expected(static_cast<size_t>(a.n * a.out_h * a.out_w * a.channels));
    avg_pool2d_s16_reference(a, data_of<int16_t>(call.tensor_at(0)), expected.data());
    cases.expect(4, expected);
  }
}

TEST(AvgPool2dS16Kernel, RefusesWhatItsContractExcludes) {
  struct Spoiled {
    int argument;
    const char* why;
    void (*spoil)(TestCall&);
  };
  const Spoiled table[] = {
      {0, "int8", [](TestCall& c) { c.tensor_at(0).type = ScalarType::s8; }},
      {4, "other channels", [](TestCall& c) { c.sizes_at(4)[1] += 1; }},
      {4, "a window outside of the image", [](TestCall& c) { c.sizes_at(4)[2] = 9; }},
  };
  for (const Spoiled& s : table) {
    Random random(7);
    TestCall call = call_of({1, 6, 4, 8, 3, 2, 2, 2, 2, 2, 0, 0}, random);
    s.spoil(call);
    EXPECT_EQ(call.refused(), s.argument) << s.why;
  }
}

}  // namespace avg_pool2d_s16_test
}  // namespace deuteron
