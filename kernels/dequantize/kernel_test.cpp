// SPDX-License-Identifier: Apache-2.0
// dequantize_s8 and dequantize_s16 against the reference on every value; and what prepare()
// refuses.
#include "kernels/dequantize/kernel.h"

#include <cmath>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/dequantize/reference.h"

namespace deuteron {
namespace dequantize_test {

TestCall call_of(ScalarType type, int32_t count, double scale, int64_t zero, int64_t low,
                 int64_t high) {
  TestCall call(kDequantizePerTensor);
  Tensor& t = call.tensor(type, {count});
  for (int32_t i = 0; i < count; ++i)
    if (type == ScalarType::s8) data_of<int8_t>(t)[i] = static_cast<int8_t>(i - count / 2);
    else data_of<int16_t>(t)[i] = static_cast<int16_t>(i - count / 2);
  call.real(scale);
  for (int64_t v : {zero, low, high, static_cast<int64_t>(type)}) call.integer(v);
  call.tensor(ScalarType::f32, {count});
  return call;
}

TEST(DequantizeKernel, EqualsTheReferenceOnEveryValue) {
  KernelCases cases;
  for (const float scale : {0.02092f, 1.0f, 1e-38f, 1e36f, 0.0039215689f, 7.7e-42f}) {
    for (const int32_t zero : {-128, -12, 0, 127}) {
      TestCall call = call_of(ScalarType::s8, 256, scale, zero, -128, 127);
      cases.run("s8, scale " + std::to_string(scale) + ", zero " + std::to_string(zero), call);
      std::vector<float> expected(256);
      dequantize_reference({256, scale, zero}, data_of<int8_t>(call.tensor_at(0)), expected.data());
      cases.expect(6, expected);
      TestCall call16 = call_of(ScalarType::s16, 65536, scale, zero * 200, -32768, 32767);
      cases.run("s16, scale " + std::to_string(scale) + ", zero " + std::to_string(zero), call16);
      std::vector<float> expected16(65536);
      dequantize_reference({65536, scale, zero * 200}, data_of<int16_t>(call16.tensor_at(0)),
                           expected16.data());
      cases.expect(6, expected16);
    }
  }
}

TEST(DequantizeKernel, Refuses) {
  const auto make = [] { return call_of(ScalarType::s8, 5, 0.1, 3, -128, 127); };
  expect_refusals(make, {
                            {0, "must be int8 or int16", type(0, ScalarType::u8)},
                            {1, "must be finite", real(1, std::nan(""))},
                            {1, "must be finite", real(1, 1e40)},
                            {2, "must be quant_min..quant_max", number(2, 128)},
                            {3, "must be -128..127", number(3, -129)},
                            {4, "must be activation_min..127", number(4, 128)},
                            {5, "must be the dtype of the input", number(5, 2)},
                            {6, "must be float32", type(6, ScalarType::s8)},
                            {6, "must have the sizes and the order of the input", size(6, 0, 6)},
                            {6, "must be 4-aligned", misaligned(6, 2)},
                        });
}

}  // namespace dequantize_test
}  // namespace deuteron
