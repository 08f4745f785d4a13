// SPDX-License-Identifier: Apache-2.0
// depthwise_conv2d_s8_s16 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/depthwise_conv2d/s16/reference.h"

namespace deuteron {
namespace depthwise_conv2d_s8_s16_test {

constexpr int kOut = 10;

struct Case {
  const char* name;
  int32_t n, h, w, c, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_zero = -3, low = -32768, high = 32767;
};

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kDepthwiseConv2dS8S16);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  Tensor& weight = call.tensor(ScalarType::s16, {k.kh, k.kw, k.c});
  auto* to = static_cast<int16_t*>(weight.data);
  for (const int32_t v : random.list(weight.numel, -32768, 32767)) *to++ = static_cast<int16_t>(v);
  weight.constant = true;
  call.constants(random.list(k.c, -2000000000, 2000000000));
  std::vector<int32_t> multipliers = random.list(k.c, 0, 20000000);
  multipliers[0] = INT32_MAX;
  call.constants(multipliers);
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  for (const int32_t v : {k.low, k.high, k.x_zero}) call.integer(v);
  call.tensor(ScalarType::s16, {k.n, k.c, k.oh, k.ow}, {0, 2, 3, 1});
  return call;
}

TEST(DepthwiseConv2dS8S16Kernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 8, 3, 3, 6, 7, 1, 1, 1, 1},
      {"odd channels", 2, 5, 4, 13, 3, 2, 5, 3, 1, 1, 1, 0},
      {"one channel", 1, 5, 4, 1, 3, 3, 3, 2},
      {"stride and dilation", 1, 11, 13, 5, 3, 2, 4, 4, 2, 3, 1, 0, 2, 2},
      {"more padding than image", 1, 2, 1, 3, 5, 5, 2, 1, 1, 1, 2, 2},
      {"bounds", 1, 4, 5, 16, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, -128, 0, 20000},
  };
  uint32_t seed = 1;
  for (const Case& k : table) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    cases.run(k.name, call);
    const DepthwiseS8S16Args a{{k.n, k.h, k.w, k.c, k.oh, k.ow, k.kh, k.kw, k.sh, k.sw, k.ph, k.pw,
                                k.dh, k.dw, k.low, k.high},
                               k.x_zero};
    std::vector<int16_t> expected(static_cast<size_t>(k.n * k.oh * k.ow * k.c));
    depthwise_conv2d_s16_reference(a.layer, data_of<int8_t>(call.tensor_at(0)),
                                   data_of<int16_t>(call.tensor_at(1)),
                                   data_of<int32_t>(call.tensor_at(2)),
                                   data_of<int32_t>(call.tensor_at(3)), expected.data(), a.x_zero);
    cases.expect(kOut, expected);
  }
}

TEST(DepthwiseConv2dS8S16Kernel, Refuses) {
  const auto plain = [] {
    Random random(7);
    return call_of({"plain", 1, 6, 7, 8, 3, 3, 6, 7, 1, 1, 1, 1}, random);
  };
  expect_refusals(plain, {
                             {0, "must be int8", type(0, ScalarType::s16)},
                             {1, "must have the channels of the input", size(1, 2, 7)},
                             {7, "must be -32768..32767", number(7, 40000)},
                             {9, "must be -128..127", number(9, 128)},
                             {kOut, "must be int16", type(kOut, ScalarType::s8)},
                             {kOut, "must have the channels of the input", size(kOut, 1, 3)},
                         });
}

}  // namespace depthwise_conv2d_s8_s16_test
}  // namespace deuteron
