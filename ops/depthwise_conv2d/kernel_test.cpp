// depthwise_conv2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/depthwise_conv2d/kernel.h"

#include "ops/depthwise_conv2d/kernel_host.h"
#include "ops/depthwise_conv2d/reference.h"
#include "ops/device/kernel_test.h"
#include "ops/device/kernels.h"

namespace deuteron {
namespace {

struct Case {
  const char* name;
  int32_t n, h, w, c, multiplier, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_offset = 3, y_zero = -7, low = -128, high = 127, shift_low = -11, shift_high = -4;
  bool bias = true;
};

TestCall call_of(const Case& k, Random& random) {
  const int32_t oc = k.c * k.multiplier;
  TestCall call(kQuantizedDepthwiseConv2d);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  random.fill(call.tensor(ScalarType::s8, {1, k.kh, k.kw, oc}));
  if (k.bias) call.constants(random.list(oc, -3000, 3000));
  else call.none();
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  call.integer(k.multiplier);
  call.integer(k.x_offset);
  call.integer(k.y_zero);
  call.constants(random.multipliers(oc));
  call.constants(random.list(oc, k.shift_low, k.shift_high));
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::u8, {0});
  call.image(k.n, k.oh, k.ow, oc);
  return call;
}

DepthwiseConv2dArgs args_of(const Case& k, const int32_t* multiplier, const int32_t* shift) {
  return {k.n,  k.h,  k.w,  k.c,  k.oh, k.ow,       k.c * k.multiplier, k.multiplier, k.kh,   k.kw,       k.sh,
          k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset, k.y_zero,           k.low,        k.high, multiplier, shift};
}

void check(KernelCases& cases, const Case& k, uint32_t seed, int fill_x = 0, int fill_weight = 0) {
  const std::string name = line(
      k.name,
      {k.n, k.h, k.w, k.c, k.multiplier, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset, k.y_zero, k.low, k.high},
      seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  if (fill_x != 0) std::memset(call.tensor_at(0).data, fill_x, static_cast<size_t>(call.tensor_at(0).numel));
  if (fill_weight != 0) std::memset(call.tensor_at(1).data, fill_weight, static_cast<size_t>(call.tensor_at(1).numel));
  cases.run(name, call);
  const DepthwiseConv2dArgs a = args_of(k, data_of<int32_t>(call.tensor_at(9)), data_of<int32_t>(call.tensor_at(10)));
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(14).numel));
  depthwise_conv2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                             k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr, expected.data());
  cases.expect(14, expected);
}

TEST(DepthwiseConv2dKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 5, 1, 3, 3, 6, 7, 1, 1, 1, 1},
      {"64 channels, batch 1", 1, 25, 5, 64, 1, 3, 3, 25, 5, 1, 1, 1, 1},
      {"more channels than one block of sums, and a rest", 1, 9, 7, 131, 1, 3, 5, 5, 4, 2, 2, 1, 2},
      {"batch 2", 2, 6, 7, 9, 1, 3, 3, 3, 3, 2, 3, 0, 1},
      {"one input channel, all filters: a first layer", 1, 58, 12, 1, 64, 10, 4, 25, 5, 2, 2, 0, 0},
      {"75 filters of one channel", 1, 9, 8, 1, 75, 3, 3, 9, 8, 1, 1, 1, 1},
      {"multiplier", 1, 5, 6, 3, 2, 3, 3, 5, 6, 1, 1, 1, 1},
      {"multiplier 4, batch 2", 2, 5, 6, 7, 4, 2, 3, 4, 6, 1, 1, 0, 1},
      {"dilation", 1, 11, 13, 6, 1, 3, 2, 4, 4, 2, 3, 1, 0, 2, 2},
      {"TensorFlow SAME, stride 2: pads after only", 1, 8, 8, 12, 1, 3, 3, 4, 4, 2, 2, 0, 0},
      {"SAME with an even kernel", 1, 7, 6, 3, 1, 5, 4, 7, 6, 1, 1, 2, 1},
      {"all padding after", 1, 5, 6, 2, 1, 3, 3, 5, 6},
      {"windows wholly in the padding", 1, 3, 4, 2, 1, 1, 1, 7, 8, 1, 1, 2, 2},
      {"kernel larger than the input", 1, 2, 2, 3, 1, 7, 7, 2, 2, 1, 1, 3, 3},
      {"a column", 1, 4, 1, 1, 1, 3, 1, 4, 1, 1, 1, 1, 0},
      {"a fused activation, extreme offsets", 1, 6, 7, 5, 1, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, 128, 127, -3, 90},
      {"multiplier 3, every shift", 1, 6, 7, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, -127, -128, 5, 9, -31, 30},
  };
  uint32_t seed = 1;
  for (Case k : table) {
    check(cases, k, seed++);
    check(cases, k, seed++, -128, -128);
    check(cases, k, seed++, 127, -128);
    k.bias = false;
    check(cases, k, seed++);
  }
}

Case random_case(Random& random) {
  Case k{};
  k.name = "random";
  k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 90);
  k.multiplier = random.in(0, 2) ? 1 : random.in(2, 9), k.kh = random.in(1, 5), k.kw = random.in(1, 5);
  k.sh = random.in(1, 3), k.sw = random.in(1, 3), k.ph = random.in(0, 4), k.pw = random.in(0, 4), k.dh = random.in(1, 3),
  k.dw = random.in(1, 3);
  k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1), k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
  k.x_offset = random.in(-255, 255), k.y_zero = random.in(-128, 127), k.low = random.in(-128, 127), k.high = random.in(k.low, 127);
  k.bias = random.in(0, 1) == 1;
  return k;
}

TEST(DepthwiseConv2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20252);
  for (uint32_t i = 0; i < 300; ++i) check(cases, random_case(random), 1000 + i);
}

// Not only the one that the program takes.
TEST(DepthwiseConv2dKernel, IsTheSameWithAllVectorsOfAHost) {
  const HostKernels<HostDepthwiseKernel>& host = host_depthwise_kernels();
  if (host.count == 0) GTEST_SKIP() << "left out: this processor has no AVX2";
  Random random(20263);
  int taken = 0;
  for (uint32_t i = 0; i < 600; ++i) {
    const Case k = random_case(random);
    TestCall call = call_of(k, random);
    const DepthwiseConv2dArgs a = args_of(k, data_of<int32_t>(call.tensor_at(9)), data_of<int32_t>(call.tensor_at(10)));
    const int8_t *x = data_of<int8_t>(call.tensor_at(0)), *weight = data_of<int8_t>(call.tensor_at(1));
    const int32_t* bias = k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr;
    std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(14).numel)), found(expected.size());
    depthwise_conv2d_reference(a, x, weight, bias, expected.data());
    for (int32_t n = 0; n < host.count; ++n) {
      if (!host.kernel[n](a, x, weight, bias, found.data())) continue;
      ASSERT_EQ(found, expected) << "kernel " << n << " of the host, case " << i;
      ++taken;
    }
  }
  EXPECT_GT(taken, 50);
}

TEST(DepthwiseConv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{"", 1, 6, 7, 4, 2, 3, 3, 6, 7, 1, 1, 1, 1};
  const auto make = [&] {
    Random random(7);
    return call_of(k, random);
  };
  expect_refusals(make, {
                            {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                            {1, "must be stored in the order of its dimensions", order(1, {0, 3, 1, 2})},
                            {1, "must have a first extent of 1", size(1, 0, 2)},
                            {1, "must have one filter for each output channel", size(1, 3, 4)},
                            {14, "has an extent that is too small", size(1, 1, 0)},
                            {14, "must have the input's channels times the multiplier", number(6, 3)},
                            {6, "is out of range", number(6, 0)},
                            {6, "is out of range", number(6, (int64_t{1} << 32) + 2)},
                            {2, "must have one entry for each output channel", elements(2, 4)},
                            {5, "must have two numbers", items(5, 3)},
                            {7, "must be -255..255", number(7, -256)},
                            {8, "must be -128..127", number(8, 128)},
                            {9, "must be a constant", not_constant(9)},
                            {10, "has a value out of range", entry(10, 7, 31)},
                            {12, "must be activation_min..127", number(12, -129)},
                            {14, "has more windows than the input has places", size(14, 3, 9)},
                            {14, "must have the batch of the input", size(14, 0, 2)},
                        });
}

}  // namespace
}  // namespace deuteron
