// SPDX-License-Identifier: Apache-2.0
// conv2d_16x8, wide and narrow, and their binding against the reference, bit for bit, over shapes
// whose extents all differ; and refusals.
#include "kernels/conv2d/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/conv2d/16x8/test_layer.h"

namespace deuteron {
namespace conv2d_16x8_test {

enum class Bias { none, wide, narrow };

struct Case {
  const char* name;
  Bias bias;
  Conv2d16x8Args a;  // n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, kernel_c,
                     // stride, pad, dilation, y_min, y_max
};

const Case kCases[] = {
    {"3x3, pads 1", Bias::wide, {1, 6, 7, 3, 6, 7, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, -32768, 32767}},
    {"1x1, no bias", Bias::none, {2, 5, 9, 16, 5, 9, 6, 1, 1, 16, 1, 1, 0, 0, 1, 1, -32768, 32767}},
    {"1x1, narrow", Bias::narrow, {1, 5, 3, 7, 5, 3, 9, 1, 1, 7, 1, 1, 0, 0, 1, 1, 0, 20000}},
    {"stride and dilation",
     Bias::wide,
     {1, 11, 13, 5, 4, 4, 4, 3, 2, 5, 2, 3, 1, 0, 2, 2, -32768, 32767}},
    {"dilation along rows only, narrow",
     Bias::narrow,
     {1, 11, 6, 4, 9, 5, 3, 2, 2, 4, 1, 1, 0, 0, 2, 1, -32768, 32767}},
    {"two groups", Bias::wide, {1, 5, 6, 6, 5, 6, 4, 3, 3, 3, 1, 1, 1, 1, 1, 1, -100, 32767}},
    {"depthwise, three filters a channel",
     Bias::wide,
     {2, 7, 5, 4, 4, 3, 12, 3, 3, 1, 2, 2, 1, 1, 1, 1, -32768, 32767}},
    {"depthwise, narrow",
     Bias::narrow,
     {1, 4, 5, 5, 4, 5, 5, 3, 2, 1, 1, 1, 1, 0, 1, 1, -32768, 32767}},
    {"more products than 32 bits hold",
     Bias::wide,
     {1, 3, 4, 190, 2, 2, 2, 2, 3, 190, 1, 1, 0, 0, 1, 1, -32768, 32767}},
    {"a window outside of the image",
     Bias::wide,
     {1, 2, 3, 4, 5, 6, 2, 2, 2, 4, 1, 1, 2, 2, 1, 1, -32768, 32767}},
};

TestCall call_of(const Case& k, Random& random) {
  const Conv2d16x8Args& a = k.a;
  TestCall call(kConv2d16x8);
  add_int16(call, random, {a.n, a.in_c, a.in_h, a.in_w}, {0, 2, 3, 1});
  add_constant(call, ScalarType::s8,
               any_int8(random, int64_t{a.out_c} * a.kernel_h * a.kernel_w * a.kernel_c),
               {a.out_c, a.kernel_h, a.kernel_w, a.kernel_c});
  const bool narrow = k.bias == Bias::narrow;
  if (narrow) add_constant(call, ScalarType::s32, random.list(a.out_c, -2000000000, 2000000000));
  else if (k.bias == Bias::wide)
    add_constant(call, ScalarType::s64, any_int64(random, a.out_c, int64_t{1} << 46));
  else call.none();
  std::vector<int32_t> multiplier =
      random.list(a.out_c, narrow ? 1 << 30 : 16384, narrow ? INT32_MAX : 32767);
  std::vector<int32_t> shift = random.list(a.out_c, narrow ? -14 : 1, narrow ? 0 : 46);
  multiplier[0] = narrow ? INT32_MAX : 0;
  add_constant(call, ScalarType::s32, multiplier);
  add_constant(call, ScalarType::s32, shift);
  call.integers({a.stride_h, a.stride_w});
  call.integers({a.pad_h, a.pad_w});
  call.integers({a.dilation_h, a.dilation_w});
  call.integer(a.y_min);
  call.integer(a.y_max);
  call.tensor(ScalarType::s16, {a.n, a.out_c, a.out_h, a.out_w}, {0, 2, 3, 1});
  return call;
}

std::vector<int16_t> expected_of(const Case& k, TestCall& call) {
  const Conv2d16x8Args& a = k.a;
  const auto* x = data_of<int16_t>(call.tensor_at(0));
  const auto* weight = data_of<int8_t>(call.tensor_at(1));
  std::vector<int16_t> y;
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t oc = 0; oc < a.out_c; ++oc) {
          const int64_t sum = conv2d_16x8_sum(a, x, weight, n, oh, ow, oc);
          y.push_back(layer_16x8_reference(call, sum, static_cast<size_t>(oc), a.y_min, a.y_max));
        }
  return y;
}

TEST(Conv2d16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    cases.run(k.name, call);
    cases.expect(10, expected_of(k, call));
  }
}

// 511 products of the largest size are the most that 32 bits hold; the next one goes on in 64.
TEST(Conv2d16x8Kernel, SumsOfTheLargestProductsAreExact) {
  for (const int32_t length : {511, 512, 1022, 1023, 5000}) {
    const std::vector<int16_t> x(static_cast<size_t>(length), -32768);
    const std::vector<int8_t> weight(x.size(), -128);
    const int32_t multiplier = 1, shift = 22;
    const Conv2d16x8Args a{1, 1, 1, length, 1, 1, 1, 1, 1, length, 1, 1, 0, 0, 1, 1, -32768, 32767};
    int16_t y = 0;
    conv2d_16x8(a, x.data(), weight.data(), nullptr, &multiplier, &shift, &y);
    EXPECT_EQ(y, length);
  }
}

TEST(Conv2d16x8Kernel, SumsOfTheLargestProductsOfAChannelAreExact) {
  for (const int32_t taps : {511, 512, 1023}) {
    const std::vector<int16_t> x(static_cast<size_t>(taps) * 2, -32768);
    const std::vector<int8_t> weight(x.size(), -128);
    const std::vector<int32_t> multiplier(2, 1), shift(2, 22);
    const Conv2d16x8Args a{1, 1, taps, 2, 1, 1, 2, 1, taps, 1, 1, 1, 0, 0, 1, 1, -32768, 32767};
    int16_t y[2] = {};
    conv2d_16x8(a, x.data(), weight.data(), nullptr, multiplier.data(), shift.data(), y);
    EXPECT_EQ(y[0], taps);
    EXPECT_EQ(y[1], taps);
  }
}

TEST(Conv2d16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kCases[0], random);
  };
  expect_refusals(
      make, {
                {0, "must be int16", type(0, ScalarType::s8)},
                {10, "must be int16", type(10, ScalarType::s8)},
                {1, "must be int8", type(1, ScalarType::s16)},
                {1, "must have one filter for each output channel", size(1, 0, 4)},
                {1, "must have channels that divide those of the input into groups", size(1, 3, 2)},
                {2, "must be int64", type(2, ScalarType::f32)},
                {2, "must be 4-aligned",
                 [](TestCall& c) {
                   c.tensor_at(2).type = ScalarType::s32;
                   c.tensor_at(2).data = static_cast<uint8_t*>(c.tensor_at(2).data) + 2;
                 }},
                {8, "must be -32768..32767", number(8, -32769)},
                {10, "must have the batch of the input", size(10, 0, 2)},
            });
}

TEST(Conv2d16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kConv2d16x8,
                "x16:1,3,6,7:0231 x8c:5,3,3,3 x64c:5 x32pc:5 x32pc:5 l:1,1 l:1,1 l:1,1 i:-32768 "
                "i:32767 x16:1,5,6,7:0231");
}

}  // namespace conv2d_16x8_test
}  // namespace deuteron
