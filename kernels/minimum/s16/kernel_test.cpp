// SPDX-License-Identifier: Apache-2.0
// minimum_s16, maximum_s16 and their bindings against the reference over layouts and broadcasts;
// and refusals.
#include "kernels/minimum/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/minimum/reference.h"

namespace deuteron {
namespace minimum_s16_test {

TestCall call_of(const Kernel& kernel, const LayoutReference& x, const LayoutReference& other,
                 const LayoutReference& y, Random& random) {
  TestCall call(kernel);
  for (const LayoutReference* l : {&x, &other}) {
    Tensor& t = call.tensor(ScalarType::s16, l->sizes, l->order);
    auto* to = static_cast<int16_t*>(t.data);
    for (const int32_t v : random.list(t.numel, -32768, 32767)) *to++ = static_cast<int16_t>(v);
  }
  call.tensor(ScalarType::s16, y.sizes, y.order);
  return call;
}

TEST(ExtremumS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const std::vector<uint8_t> nchw{0, 1, 2, 3}, nhwc{0, 2, 3, 1};
  const std::vector<int32_t> image{2, 3, 4, 5};
  const std::vector<int32_t> others[] = {
      image, {1, 3, 1, 1}, {2, 1, 4, 1}, {1, 1, 1, 1}, {1, 3, 1, 5}};
  uint32_t seed = 1;
  for (const auto& order : {nchw, nhwc})
    for (const auto& sizes : others)
      for (const bool most : {false, true})
        for (const bool swapped : {false, true}) {
          const LayoutReference whole{image, order}, part{sizes, nhwc};
          const LayoutReference &x = swapped ? part : whole, &other = swapped ? whole : part;
          Random random(seed++);
          TestCall call = call_of(most ? kMaximumS16 : kMinimumS16, x, other, whole, random);
          cases.run(testing::PrintToString(sizes), call);
          std::vector<int16_t> expected(120);
          extremum_reference(most, x, data_of<int16_t>(call.tensor_at(0)), other,
                             data_of<int16_t>(call.tensor_at(1)), whole, expected.data());
          cases.expect(2, expected);
        }
}

TEST(ExtremumS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kMaximumS16, {{2, 3}, {0, 1}}, {{1, 3}, {0, 1}}, {{2, 3}, {0, 1}}, random);
  };
  expect_refusals(make, {
                            {0, "must be int16", type(0, ScalarType::s8)},
                            {1, "must be int16", type(1, ScalarType::f32)},
                            {2, "must be int16", type(2, ScalarType::s8)},
                            {0, "must broadcast to the output", size(0, 1, 4)},
                            {1, "must broadcast to the output", size(1, 0, 3)},
                        });
}

TEST(ExtremumS16Kernel, StaysInsideItsTensors) {
  expect_inside(kMinimumS16, "x16:2,3,4 x16:3,1 x16:2,3,4");
}

}  // namespace minimum_s16_test
}  // namespace deuteron
