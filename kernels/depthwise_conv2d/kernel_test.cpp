// SPDX-License-Identifier: Apache-2.0
// depthwise_conv2d_s8 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/depthwise_conv2d/kernel.h"

#include <cstdlib>
#include <memory>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/depthwise_conv2d/kernel_host.h"
#include "kernels/depthwise_conv2d/reference.h"

namespace deuteron {
namespace depthwise_conv2d_test {

struct Case {
  const char* name;
  int32_t n, h, w, c, multiplier, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_offset = 3, y_zero = -7, low = -128, high = 127, shift_low = -11, shift_high = -4;
  bool bias = true, is_plain = false;  // plain: no shifts, multipliers of less than 2^30
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
  call.constants(k.is_plain ? random.list(oc, 0, (1 << 30) - 1) : random.multipliers(oc));
  call.constants(k.is_plain ? std::vector<int32_t>(static_cast<size_t>(oc))
                            : random.list(oc, k.shift_low, k.shift_high));
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::u8, {0});
  call.image(k.n, k.oh, k.ow, oc);
  return call;
}

DepthwiseConv2dArgs args_of(const Case& k, const int32_t* multiplier, const int32_t* shift) {
  return {k.n,        k.h,  k.w,  k.c,  k.oh, k.ow, k.c * k.multiplier, k.multiplier, k.kh,  k.kw,
          k.sh,       k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset,         k.y_zero,     k.low, k.high,
          multiplier, shift};
}

void check(KernelCases& cases, const Case& k, uint32_t seed, int fill_x = 0, int fill_weight = 0) {
  const std::string name = line(k.name,
                                {k.n, k.h, k.w, k.c, k.multiplier, k.kh, k.kw, k.oh, k.ow, k.sh,
                                 k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset, k.y_zero, k.low, k.high},
                                seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  if (fill_x != 0)
    std::memset(call.tensor_at(0).data, fill_x, static_cast<size_t>(call.tensor_at(0).numel));
  if (fill_weight != 0)
    std::memset(call.tensor_at(1).data, fill_weight, static_cast<size_t>(call.tensor_at(1).numel));
  cases.run(name, call);
  const DepthwiseConv2dArgs a =
      args_of(k, data_of<int32_t>(call.tensor_at(9)), data_of<int32_t>(call.tensor_at(10)));
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(14).numel));
  depthwise_conv2d_reference(
      a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
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
      {"a fused activation, extreme offsets",
       1,
       6,
       7,
       5,
       1,
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
      {"multiplier 3, every shift",
       1,
       6,
       7,
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
       5,
       9,
       -31,
       30},
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
  k.multiplier = random.in(0, 2) ? 1 : random.in(2, 9), k.kh = random.in(1, 5),
  k.kw = random.in(1, 5);
  k.sh = random.in(1, 3), k.sw = random.in(1, 3), k.ph = random.in(0, 4), k.pw = random.in(0, 4),
  k.dh = random.in(1, 3), k.dw = random.in(1, 3);
  k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
  k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
  k.x_offset = random.in(-255, 255), k.y_zero = random.in(-128, 127), k.low = random.in(-128, 127),
  k.high = random.in(k.low, 127);
  k.bias = random.in(0, 1) == 1;
  return k;
}

TEST(DepthwiseConv2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20252);
  for (uint32_t i = 0; i < 300; ++i) check(cases, random_case(random), 1000 + i);
}

// Every form of a host, with blocks on the stack and with blocks that are kept. How many of them
// served the call.
int check_forms_of_host(const Case& k, Random& random) {
  TestCall call = call_of(k, random);
  const DepthwiseConv2dArgs a =
      args_of(k, data_of<int32_t>(call.tensor_at(9)), data_of<int32_t>(call.tensor_at(10)));
  const std::string name = line(
      k.name,
      {k.n, k.h, k.w, k.c, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph, k.pw, k.dh, k.dw, k.x_offset},
      0);
  const int8_t *x = data_of<int8_t>(call.tensor_at(0)),
               *weight = data_of<int8_t>(call.tensor_at(1));
  const int32_t* bias = k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr;
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(14).numel));
  depthwise_conv2d_reference(a, x, weight, bias, expected.data());
  int served = 0;
  for (int32_t n = 0; n < host_row_forms().count; ++n) {
    const HostRowForm& form = host_row_forms().kernel[n];
    std::vector<int8_t> found(expected.size()), again(expected.size());
    const bool is_served = depthwise_conv2d_s8_host(a, x, weight, bias, form, found.data());
    if (is_served) { EXPECT_EQ(found, expected) << name << ": form " << n; }
    const auto bytes = static_cast<size_t>(depthwise_conv2d_host_bytes(a, form));
    if (bytes == 0) continue;
    const std::unique_ptr<void, decltype(&std::free)> room(std::aligned_alloc(64, bytes),
                                                           &std::free);
    run_depthwise_conv2d(order_depthwise_conv2d(a, form, weight, bias, room.get()), x,
                         again.data());
    EXPECT_EQ(again, expected) << name << ": form " << n << " with ordered weights";
    ++served;
  }
  return served;
}

int check_host_forms(Case k, Random& random) {
  const int served = check_forms_of_host(k, random);
  k.is_plain = true;
  return served + check_forms_of_host(k, random);
}

// Not only the form that the program takes. Channels at the edges of a block, rows that end where
// one does, every number of taps behind the last whole group.
TEST(DepthwiseConv2dKernel, IsTheSameWithAllFormsOfAHost) {
  if (host_row_forms().count == 0) GTEST_SKIP() << "left out: this processor has no AVX2";
  Random random(20263);
  for (const int32_t c :
       {1, 2, 3, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 96, 127, 128, 129, 192, 1001})
    for (const int32_t stride : {1, 2, 3}) {
      Case k{"channels", 1, 7, 8, c, 1, 3, 3, 3, 2, stride, stride, 1, 1};
      EXPECT_GT(check_host_forms(k, random), 0) << c;
    }
  for (int32_t taps = 1; taps <= 13; ++taps)
    EXPECT_GT(check_host_forms({"taps", 2, 3, 20, 8, 1, 1, taps, 3, 8, 1, 1, 0, 2}, random), 0)
        << taps;
  for (const int32_t shift : {-31, -30, -2, -1, 0, 1, 30}) {
    Case k{"shifts", 1, 9, 9, 24, 1, 3, 3, 9, 9, 1, 1, 1, 1};
    k.shift_low = k.shift_high = shift;
    EXPECT_GT(check_host_forms(k, random), 0) << shift;
    k.shift_low = -31, k.shift_high = 30;
    EXPECT_GT(check_host_forms(k, random), 0);
  }
  EXPECT_GT(check_host_forms({"a stride of more than the image", 1, 3, 5, 4, 1, 1, 3, 1, 1, 1 << 20,
                              1 << 20, 0, 1},
                             random),
            0);
  EXPECT_GT(check_host_forms({"a stride of more than the taps reach", 1, 3, 29, 4, 1, 1, 3, 1, 5, 1,
                              6, 0, 1, 1, 2},
                             random),
            0);
  EXPECT_EQ(check_host_forms(
                {"rows for which there is no room", 1, 3, 3000, 20, 1, 3, 3, 3, 3000, 1, 1, 1, 1},
                random),
            0);
  int served = 0;
  for (uint32_t i = 0; i < 600; ++i) served += check_host_forms(random_case(random), random);
  EXPECT_GT(served, 50);
}

TEST(DepthwiseConv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{"", 1, 6, 7, 4, 2, 3, 3, 6, 7, 1, 1, 1, 1};
  const auto make = [&] {
    Random random(7);
    return call_of(k, random);
  };
  expect_refusals(make,
                  {
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

}  // namespace depthwise_conv2d_test
}  // namespace deuteron
