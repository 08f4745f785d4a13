// SPDX-License-Identifier: Apache-2.0
// quantize_channels_s8 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/quantize/channels/kernel.h"

#include <cmath>
#include <limits>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/quantize/channels/reference.h"

namespace deuteron {
namespace quantize_channels_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinite = std::numeric_limits<float>::infinity();

TestCall call_of(const QuantizeChannelsArgs& a, Random& random) {
  TestCall call(kQuantizeChannels);
  auto* x =
      static_cast<float*>(call.tensor(ScalarType::f32, {a.count / a.channels, a.channels}).data);
  for (int32_t i = 0; i < a.count; ++i) x[i] = static_cast<float>(random.in(-4000, 4000)) / 16;
  const float odd[] = {kNan, kInfinite, -kInfinite, 1e38f, -1e38f, 1e-40f};
  for (int32_t i = 0; i < 6 && i < a.count; ++i) x[i] = odd[i];
  for (const int32_t most : {200, 3}) {
    auto* to = static_cast<float*>(call.tensor(ScalarType::f32, {a.channels}).data);
    for (int32_t c = 0; c < a.channels; ++c)
      to[c] = static_cast<float>(random.in(-1000, 1000)) * static_cast<float>(most) / 1000;
  }
  for (const int32_t v : {a.zero, a.low, a.high}) call.integer(v);
  call.tensor(ScalarType::s8, {a.count / a.channels, a.channels});
  return call;
}

TEST(QuantizeChannelsKernel, EqualsTheReference) {
  KernelCases cases;
  const QuantizeChannelsArgs table[] = {{8, 1, 0, -128, 127},
                                        {21, 7, -128, -128, 127},
                                        {48, 16, 5, -100, 90},
                                        {15, 15, 127, -128, 127}};
  uint32_t seed = 1;
  for (const QuantizeChannelsArgs& a : table) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    cases.run(std::to_string(a.count) + " of " + std::to_string(a.channels) + " channels", call);
    std::vector<int8_t> expected;
    for (int32_t i = 0; i < a.count; ++i)
      expected.push_back(
          quantize_channels_reference(a, data_of<float>(call.tensor_at(0))[i],
                                      data_of<float>(call.tensor_at(1))[i % a.channels],
                                      data_of<float>(call.tensor_at(2))[i % a.channels]));
    cases.expect(6, expected);
  }
}

TEST(QuantizeChannelsKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({21, 7, 3, -128, 127}, random);
  };
  expect_refusals(make, {
                            {0, "must be float32", type(0, ScalarType::s8)},
                            {0, "must be 4-aligned", misaligned(0, 2)},
                            {1, "must have as many elements as the factor", elements(1, 5)},
                            {1, "must be 4-aligned", misaligned(1, 2)},
                            {2, "must be float32", type(2, ScalarType::s32)},
                            {1, "must have as many elements as the factor", elements(2, 3)},
                            {3, "must be -128..127", number(3, 128)},
                            {4, "must be -128..127", number(4, -129)},
                            {5, "must be activation_min..127", number(5, 128)},
                            {6, "must be int8", type(6, ScalarType::f32)},
                            {6, "must have the sizes and the order of the input", size(6, 0, 2)},
                        });
}

}  // namespace quantize_channels_test
}  // namespace deuteron
