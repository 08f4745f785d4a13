// SPDX-License-Identifier: Apache-2.0
// resize2d_s16 and its binding against the reference, bit for bit; and refusals.
#include "kernels/resize2d/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/resize2d/reference.h"
#include "kernels/resize2d/test_positions.h"

namespace deuteron {
namespace resize2d_s16_test {

TestCall call_of(const Resize2dArgs& a, Random& random) {
  TestCall call(kResize2dS16);
  Tensor& x = call.tensor(ScalarType::s16, {a.n, a.channels, a.in_h, a.in_w}, {0, 2, 3, 1});
  auto* to = static_cast<int16_t*>(x.data);
  for (const int32_t v : random.list(x.numel, -9, 8))
    *to++ = static_cast<int16_t>(v % 2 == 0 ? 4095 * v : v < 0 ? -32768 : 32767);
  add_positions(call, a, random);
  call.tensor(ScalarType::s16, {a.n, a.channels, a.out_h, a.out_w}, {0, 2, 3, 1});
  return call;
}

const Resize2dArgs kTable[] = {{1, 5, 3, 7, 10, 6},
                               {2, 3, 4, 1, 7, 9},
                               {1, 1, 1, 5, 4, 3},
                               {3, 2, 5, 3, 3, 11},
                               {1, 11, 13, 33, 9, 12}};

TEST(Resize2dS16Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Resize2dArgs& a : kTable) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    std::vector<int16_t> expected(static_cast<size_t>(call.tensor_at(3).numel));
    resize2d_reference(a, data_of<int16_t>(call.tensor_at(0)), data_of<int32_t>(call.tensor_at(1)),
                       data_of<int32_t>(call.tensor_at(2)), expected.data());
    cases.run(std::to_string(a.in_h) + " to " + std::to_string(a.out_h), call);
    cases.expect(3, expected);
  }
}

TEST(Resize2dS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kTable[0], random);
  };
  expect_refusals(
      make,
      {
          {0, "must be int16", type(0, ScalarType::s8)},
          {3, "must be stored channels-last", order(3, {0, 1, 2, 3})},
          {3, "must have the batch and the channels of the input", size(3, 1, 6)},
          {1, "must have a position and a weight for each element along the axis", size(1, 0, 9)},
          {2, "must be a constant", [](TestCall& c) { c.tensor_at(2).constant = false; }},
      });
}

}  // namespace resize2d_s16_test
}  // namespace deuteron
