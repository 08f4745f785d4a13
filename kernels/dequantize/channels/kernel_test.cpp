// SPDX-License-Identifier: Apache-2.0
// dequantize_channels_s8 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/dequantize/channels/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/dequantize/channels/reference.h"

namespace deuteron {
namespace dequantize_channels_test {

TestCall call_of(int32_t rows, int32_t channels) {
  TestCall call(kDequantizeChannels);
  auto* x = static_cast<int8_t*>(call.tensor(ScalarType::s8, {rows, channels}).data);
  for (int32_t i = 0; i < rows * channels; ++i) x[i] = static_cast<int8_t>(i * 7 - 128);
  for (const float unit : {3.7f, 1e-3f}) {
    auto* to = static_cast<float*>(call.tensor(ScalarType::f32, {channels}).data);
    for (int32_t c = 0; c < channels; ++c) to[c] = unit * static_cast<float>(c - 3);
  }
  call.tensor(ScalarType::f32, {rows, channels});
  return call;
}

TEST(DequantizeChannelsKernel, EqualsTheReference) {
  KernelCases cases;
  for (const auto& [rows, channels] : {std::pair{256, 1}, {37, 7}, {5, 16}, {1, 11}}) {
    TestCall call = call_of(rows, channels);
    cases.run(std::to_string(rows) + " rows of " + std::to_string(channels), call);
    std::vector<float> expected;
    for (int32_t i = 0; i < rows * channels; ++i)
      expected.push_back(dequantize_channels_reference(
          data_of<int8_t>(call.tensor_at(0))[i], data_of<float>(call.tensor_at(1))[i % channels],
          data_of<float>(call.tensor_at(2))[i % channels]));
    cases.expect(3, expected);
  }
}

TEST(DequantizeChannelsKernel, Refuses) {
  const auto make = [] { return call_of(3, 7); };
  expect_refusals(make, {
                            {0, "must be int8", type(0, ScalarType::s16)},
                            {1, "must have as many elements as the factor", elements(1, 5)},
                            {2, "must be float32", type(2, ScalarType::s8)},
                            {2, "must be 4-aligned", misaligned(2, 2)},
                            {3, "must be float32", type(3, ScalarType::s8)},
                            {3, "must have the sizes and the order of the input", size(3, 0, 2)},
                        });
}

}  // namespace dequantize_channels_test
}  // namespace deuteron
