// SPDX-License-Identifier: Apache-2.0
// conv2d_s8 and its binding against the reference, bit for bit, over shapes whose extents all
// differ; and what prepare() refuses.
#include "kernels/conv2d/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/conv2d/reference.h"

namespace deuteron {
namespace conv2d_test {

struct Case {
  const char* name;
  int32_t n, h, w, c, oc, kh, kw, kc, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_offset = 3, y_zero = -7, low = -128, high = 127, shift_low = -12, shift_high = -4;
  bool bias = true;
};

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kQuantizedConv2d);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  random.fill(call.tensor(ScalarType::s8, {k.oc, k.kh, k.kw, k.kc}));
  if (k.bias) call.constants(random.list(k.oc, -30000, 30000));
  else call.none();
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  call.integer(k.x_offset);
  call.integer(k.y_zero);
  call.constants(random.multipliers(k.oc));
  call.constants(random.list(k.oc, k.shift_low, k.shift_high));
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::u8, {0});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

void check(KernelCases& cases, const Case& k, uint32_t seed) {
  const std::string name =
      line(k.name, {k.n,  k.h,  k.w,  k.c,  k.oc, k.kh, k.kw,       k.kc,     k.oh,  k.ow,
                    k.sh, k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset, k.y_zero, k.low, k.high},
           seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  cases.run(name, call);
  const Conv2dArgs a{k.n,
                     k.h,
                     k.w,
                     k.c,
                     k.oh,
                     k.ow,
                     k.oc,
                     k.kh,
                     k.kw,
                     k.kc,
                     k.sh,
                     k.sw,
                     k.ph,
                     k.pw,
                     k.dh,
                     k.dw,
                     k.x_offset,
                     k.y_zero,
                     k.low,
                     k.high,
                     data_of<int32_t>(call.tensor_at(8)),
                     data_of<int32_t>(call.tensor_at(9))};
  std::vector<int8_t> expected(static_cast<size_t>(k.n * k.oh * k.ow * k.oc));
  conv2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                   k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr, expected.data());
  cases.expect(13, expected);
}

TEST(Conv2dKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 3, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1},
      {"1x1", 2, 5, 9, 7, 6, 1, 1, 7, 5, 9},
      {"1x1, stride", 1, 5, 9, 8, 3, 1, 1, 8, 3, 5, 2, 2},
      {"1xN", 3, 1, 11, 4, 9, 1, 5, 4, 1, 11, 1, 1, 0, 2},
      {"stride and dilation", 1, 11, 13, 5, 4, 3, 2, 5, 4, 4, 2, 3, 1, 0, 2, 2},
      {"two groups", 2, 7, 5, 6, 8, 3, 3, 3, 7, 5, 1, 1, 1, 1},
      {"three groups", 2, 7, 5, 6, 12, 2, 3, 2, 6, 5, 1, 1, 0, 1},
      {"depthwise, batch 2", 2, 9, 8, 5, 5, 3, 3, 1, 5, 4, 2, 2, 1, 1},
      {"depthwise, multiplier 3", 1, 4, 3, 5, 15, 3, 3, 1, 4, 3, 1, 1, 1, 1},
      {"more filters than one block of sums", 1, 3, 4, 2, 70, 2, 2, 2, 2, 3},
      {"a window longer than the widened row: parts of taps", 1, 6, 5, 130, 67, 3, 3, 130, 6, 5, 1,
       1, 1, 1},
      {"channels longer than it: parts of channels", 1, 2, 3, 1500, 5, 1, 2, 1500, 2, 3, 1, 1, 0,
       1},
      {"nine taps of 2500 channels", 1, 3, 3, 2500, 9, 3, 3, 2500, 1, 1},
      {"the same in two groups, dilated", 1, 4, 3, 2060, 6, 2, 2, 1030, 3, 3, 1, 1, 0, 1, 1, 2},
      {"TensorFlow SAME, stride 2: pads after only", 1, 8, 8, 3, 4, 3, 3, 3, 4, 4, 2, 2, 0, 0},
      {"SAME with an even kernel", 1, 7, 6, 3, 4, 5, 4, 3, 7, 6, 1, 1, 2, 1},
      {"all padding after", 1, 5, 6, 2, 3, 3, 3, 2, 5, 6, 1, 1, 0, 0},
      {"fewer outputs than fit", 1, 5, 6, 2, 3, 3, 3, 2, 1, 2},
      {"windows wholly in the padding", 1, 3, 4, 2, 3, 1, 1, 2, 7, 8, 1, 1, 2, 2},
      {"kernel larger than the input", 1, 2, 2, 3, 4, 7, 7, 3, 2, 2, 1, 1, 3, 3},
      {"one element", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {"a fused activation, extreme offsets",
       1,
       6,
       7,
       3,
       5,
       3,
       3,
       3,
       6,
       7,
       1,
       1,
       1,
       1,
       1,
       1,
       128,
       127,
       -3,
       90},
      {"offset -127, zero -128, one value allowed",
       1,
       6,
       7,
       3,
       5,
       3,
       3,
       3,
       6,
       7,
       1,
       1,
       1,
       1,
       1,
       1,
       -127,
       -128,
       0,
       0},
      {"every shift, sums that wrap",
       1,
       6,
       7,
       3,
       5,
       3,
       3,
       3,
       6,
       7,
       1,
       1,
       1,
       1,
       1,
       1,
       5,
       9,
       -128,
       127,
       -31,
       30},
      {"nothing to do", 0, 6, 7, 3, 5, 3, 3, 3, 4, 5},
  };
  uint32_t seed = 1;
  for (Case k : table) {
    check(cases, k, seed++);
    k.bias = false;
    check(cases, k, seed++);
  }
}

TEST(Conv2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20251);
  for (uint32_t i = 0; i < 300; ++i) {
    const int32_t groups = random.in(1, 3);
    Case k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.kc = random.in(1, 20),
    k.c = k.kc * groups;
    k.oc = groups * random.in(1, 9), k.kh = random.in(1, 5), k.kw = random.in(1, 5);
    k.sh = random.in(1, 3), k.sw = random.in(1, 3), k.ph = random.in(0, 4), k.pw = random.in(0, 4),
    k.dh = random.in(1, 3), k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_offset = random.in(-255, 255), k.y_zero = random.in(-128, 127),
    k.low = random.in(-128, 127), k.high = random.in(k.low, 127);
    k.bias = random.in(0, 1) == 1;
    check(cases, k, 1000 + i);
  }
}

TEST(Conv2dKernel, SaturatesWithExtremes) {
  KernelCases cases;
  for (const int8_t fill : {int8_t{-128}, int8_t{127}}) {
    Random random(5);
    TestCall call =
        call_of({"", 1, 5, 4, 600, 3, 3, 3, 600, 5, 4, 1, 1, 1, 1, 1, 1, -127, 0, -128, 127, -8, 2},
                random);
    std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
    std::memset(call.tensor_at(1).data, -128, static_cast<size_t>(call.tensor_at(1).numel));
    cases.run("all elements of the input " + std::to_string(fill), call);
    const Conv2dArgs a{1,
                       5,
                       4,
                       600,
                       5,
                       4,
                       3,
                       3,
                       3,
                       600,
                       1,
                       1,
                       1,
                       1,
                       1,
                       1,
                       -127,
                       0,
                       -128,
                       127,
                       data_of<int32_t>(call.tensor_at(8)),
                       data_of<int32_t>(call.tensor_at(9))};
    std::vector<int8_t> expected(60);
    conv2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                     data_of<int32_t>(call.tensor_at(2)), expected.data());
    cases.expect(13, expected);
  }
}

// Layouts that differ only in dimensions of one element are the same bytes.
TEST(Conv2dKernel, TakesAmbiguousOrders) {
  Random random(6);
  TestCall call = call_of({"", 1, 6, 7, 1, 5, 3, 3, 1, 6, 7, 1, 1, 1, 1}, random);
  uint8_t one_channel[] = {0, 2, 1, 3}, weight[] = {0, 3, 1, 2};
  call.tensor_at(0).dim_order = one_channel;
  call.tensor_at(1).dim_order = weight;
  EXPECT_EQ(call.refused(), -1);
}

TEST(Conv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{"", 2, 6, 7, 4, 6, 3, 3, 2, 6, 7, 1, 1, 1, 1};
  const auto make = [&] {
    Random random(7);
    return call_of(k, random);
  };
  expect_refusals(
      make, {
                {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                {13, "must be stored channels-last", order(13, {0, 1, 2, 3})},
                {1, "must be stored in the order of its dimensions", order(1, {0, 3, 1, 2})},
                {0, "must be int8", type(0, ScalarType::u8)},
                {0, "must have rank 4", rank(0, 3)},
                {1, "must be int8", type(1, ScalarType::s32)},
                {1, "must have one filter for each output channel", size(1, 0, 7)},
                {1, "must have channels that divide the input's", size(1, 3, 3)},
                {1, "must have channels that divide the input's", size(1, 3, 0)},
                {13, "has an extent that is too small", size(1, 2, 0)},
                {2, "must have one entry for each output channel", elements(2, 5)},
                {2, "must be int32", type(2, ScalarType::f32)},
                {2, "must be 4-aligned", misaligned(2, 2)},
                {3, "must have two numbers", items(3, 1)},
                {3, "is out of range", item(3, 0, 0)},
                {3, "is out of range", item(3, 1, int64_t{1} << 40)},
                {4, "is out of range", item(4, 1, -1)},
                {5, "is out of range", item(5, 0, 0)},
                {13, "has more windows than the input has places",
                 item(3, 0, 3)},  // the last windows would begin behind the input
                {13, "has an extent that is too large", item(5, 0, 1 << 29)},  // reach beyond int32
                {6, "must be -255..255", number(6, 256)},
                {7, "must be -128..127", number(7, -129)},
                {10, "must be -128..127", number(10, int64_t{1} << 33)},
                {11, "must be activation_min..127", numbers(10, 5, 11, 4)},
                {8, "must have one entry for each output channel", elements(8, 3)},
                {8, "must be a constant", not_constant(8)},
                {8, "has a value out of range", entry(8, 4, INT32_MIN)},
                {9, "has a value out of range", entry(9, 5, 31)},
                {9, "has a value out of range", entry(9, 0, -32)},
                {13, "must have the batch of the input", size(13, 0, 1)},
                {13, "has more windows than the input has places", size(13, 2, 8)},
            });
}

}  // namespace conv2d_test
}  // namespace deuteron
