// SPDX-License-Identifier: Apache-2.0
// depthwise_conv2d_s16 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/depthwise_conv2d/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/depthwise_conv2d/s16/reference.h"

namespace deuteron {
namespace depthwise_conv2d_s16_test {

struct Case {
  const char* name;
  int32_t n, h, w, c, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t low = -32768, high = 32767;
};

void fill_s16(Random& random, Tensor& t) {
  auto* to = static_cast<int16_t*>(t.data);
  for (const int32_t v : random.list(t.numel, -32768, 32767)) *to++ = static_cast<int16_t>(v);
}

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kDepthwiseConv2dS16);
  fill_s16(random, call.tensor(ScalarType::s16, {k.n, k.c, k.h, k.w}, {0, 2, 3, 1}));
  Tensor& weight = call.tensor(ScalarType::s16, {k.kh, k.kw, k.c});
  fill_s16(random, weight);
  weight.constant = true;
  call.constants(random.list(k.c, -2000000000, 2000000000));
  std::vector<int32_t> multipliers = random.list(k.c, 0, 200000);
  multipliers[0] = INT32_MAX;
  call.constants(multipliers);
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::s16, {k.n, k.c, k.oh, k.ow}, {0, 2, 3, 1});
  return call;
}

TEST(DepthwiseConv2dS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 8, 3, 3, 6, 7, 1, 1, 1, 1},
      {"odd channels", 2, 5, 4, 13, 3, 2, 5, 3, 1, 1, 1, 0},
      {"one channel", 1, 5, 4, 1, 3, 3, 3, 2},
      {"stride and dilation", 1, 11, 13, 5, 3, 2, 4, 4, 2, 3, 1, 0, 2, 2},
      {"more padding than image", 1, 2, 1, 3, 5, 5, 2, 1, 1, 1, 2, 2},
      {"bounds", 1, 4, 5, 16, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, 0, 20000},
  };
  uint32_t seed = 1;
  for (const Case& k : table) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    cases.run(k.name, call);
    const DepthwiseS16Args a{k.n,  k.h,  k.w,  k.c,  k.oh, k.ow, k.kh,  k.kw,
                             k.sh, k.sw, k.ph, k.pw, k.dh, k.dw, k.low, k.high};
    std::vector<int16_t> expected(static_cast<size_t>(k.n * k.oh * k.ow * k.c));
    depthwise_conv2d_s16_reference(
        a, data_of<int16_t>(call.tensor_at(0)), data_of<int16_t>(call.tensor_at(1)),
        data_of<int32_t>(call.tensor_at(2)), data_of<int32_t>(call.tensor_at(3)), expected.data());
    cases.expect(9, expected);
  }
}

TEST(DepthwiseConv2dS16Kernel, RefusesWhatItsContractExcludes) {
  struct Spoiled {
    int argument;
    const char* why;
    void (*spoil)(TestCall&);
  };
  const Spoiled table[] = {
      {0, "an int8 image", [](TestCall& c) { c.tensor_at(0).type = ScalarType::s8; }},
      {1, "int8 weights", [](TestCall& c) { c.tensor_at(1).type = ScalarType::s8; }},
      {1, "weights of other channels", [](TestCall& c) { c.sizes_at(1)[2] -= 1; }},
      {3, "a negative multiplier",
       [](TestCall& c) { static_cast<int32_t*>(c.tensor_at(3).data)[1] = -1; }},
      {7, "a bound that is no int16", [](TestCall& c) { c.argument(7).integer = 40000; }},
      {9, "other channels", [](TestCall& c) { c.sizes_at(9)[1] = 3; }},
      {9, "more windows than places", [](TestCall& c) { c.sizes_at(9)[2] = 60; }},
  };
  for (const Spoiled& s : table) {
    Random random(7);
    TestCall call = call_of({"plain", 1, 6, 7, 8, 3, 3, 6, 7, 1, 1, 1, 1}, random);
    s.spoil(call);
    EXPECT_EQ(call.refused(), s.argument) << s.why;
  }
}

}  // namespace depthwise_conv2d_s16_test
}  // namespace deuteron
