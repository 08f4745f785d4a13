// SPDX-License-Identifier: Apache-2.0
// conv_transpose2d_s8 and its binding against the reference, bit for bit; and what prepare()
// refuses.
#include "kernels/conv_transpose2d/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/conv_transpose2d/reference.h"

namespace deuteron {
namespace conv_transpose2d_test {

struct Case {
  const char* name;
  int32_t n, h, w, c, oc, kh, kw, sh = 1, sw = 1, ph = 0, pw = 0, more_h = 0, more_w = 0;
  int32_t x_offset = 2, y_zero = -21, low = -128, high = 127;
  bool bias = true;
  int32_t out_h() const { return (h - 1) * sh - 2 * ph + kh + more_h; }
  int32_t out_w() const { return (w - 1) * sw - 2 * pw + kw + more_w; }
};

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kQuantizedTransposeConv2d);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  random.fill(call.tensor(ScalarType::s8, {k.oc, k.kh, k.kw, k.c}));
  if (k.bias) call.constants(random.list(k.oc, -3000, 3000));
  else call.none();
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.more_h, k.more_w});
  call.integers({1, 1});
  call.integer(k.x_offset);
  call.integer(k.y_zero);
  call.constants(random.multipliers(k.oc));
  call.constants(random.list(k.oc, -12, -5));
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::u8, {0});
  call.tensor(ScalarType::u8, {0});
  call.image(k.n, k.out_h(), k.out_w(), k.oc);
  return call;
}

void check(KernelCases& cases, const Case& k, uint32_t seed) {
  const std::string name = line(
      k.name, {k.n, k.h, k.w, k.c, k.oc, k.kh, k.kw, k.sh, k.sw, k.ph, k.pw, k.more_h, k.more_w},
      seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  cases.run(name, call);
  const ConvTranspose2dArgs a{k.n,
                              k.h,
                              k.w,
                              k.c,
                              k.out_h(),
                              k.out_w(),
                              k.oc,
                              k.kh,
                              k.kw,
                              k.sh,
                              k.sw,
                              k.ph,
                              k.pw,
                              k.x_offset,
                              k.y_zero,
                              k.low,
                              k.high,
                              data_of<int32_t>(call.tensor_at(9)),
                              data_of<int32_t>(call.tensor_at(10))};
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(15).numel));
  conv_transpose2d_reference(
      a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
      k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr, expected.data());
  cases.expect(15, expected);
}

TEST(ConvTranspose2dKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"an instruction of a stock file", 1, 4, 5, 4, 3, 2, 2, 2, 2},
      {"batch 2, pads 1", 2, 5, 4, 17, 6, 3, 3, 2, 2, 1, 1},
      {"70 outputs, stride 1 by 2", 1, 3, 4, 5, 70, 4, 3, 1, 2, 2, 0},
      {"stride above the kernel: holes hold the bias", 1, 4, 3, 6, 3, 1, 1, 2, 2},
      {"stride of the kernel, pads 1", 1, 4, 3, 6, 3, 2, 2, 2, 2, 1, 1},
      {"3x3, pads 2", 1, 4, 5, 3, 2, 3, 3, 2, 2, 2, 2},
      {"stride 4, pads 2", 1, 5, 6, 3, 2, 3, 3, 4, 4, 2, 2},
      {"stride 3 above the kernel, pads 1", 1, 5, 5, 3, 2, 2, 2, 3, 3, 1, 1},
      {"output padding", 2, 3, 4, 2, 3, 5, 2, 3, 1, 1, 0, 2, 0},
      {"1500 channels", 1, 2, 3, 1500, 5, 2, 2, 2, 2},
      {"one element", 1, 1, 1, 1, 1, 1, 1},
      {"a fused activation", 1, 4, 5, 4, 3, 3, 2, 2, 1, 0, 0, 0, 0, -127, 127, -30, 50},
      {"offsets 128 and -128", 1, 3, 7, 4, 3, 7, 3, 1, 5, 3, 1, 0, 4, 128, -128, -128, 127},
  };
  uint32_t seed = 1;
  for (Case k : table) {
    check(cases, k, seed++);
    k.bias = false;
    check(cases, k, seed++);
  }
}

TEST(ConvTranspose2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20256);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 7), k.w = random.in(1, 7), k.c = random.in(1, 40),
    k.oc = random.in(1, 9);
    k.kh = random.in(1, 5), k.kw = random.in(1, 5), k.sh = random.in(1, 4), k.sw = random.in(1, 4);
    k.ph = random.in(0, k.kh - 1), k.pw = random.in(0, k.kw - 1), k.more_h = random.in(0, k.sh - 1),
    k.more_w = random.in(0, k.sw - 1);
    k.bias = random.in(0, 1) == 1;
    if (k.out_h() < 1 || k.out_w() < 1) continue;
    check(cases, k, 1000 + i);
  }
}

TEST(ConvTranspose2dKernel, RefusesWhatWouldLeaveATensor) {
  const auto make = [&] {
    Random random(7);
    return call_of({"", 2, 5, 4, 7, 6, 3, 3, 2, 2, 1, 1}, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                      {1, "must be stored in the order of its dimensions", order(1, {3, 0, 1, 2})},
                      {15, "must be stored channels-last", order(15, {0, 1, 2, 3})},
                      {1, "must have one filter for each output channel", size(1, 0, 7)},
                      {1, "must have the channels of the input", size(1, 3, 6)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       size(1, 1, 4)},
                      {2, "must have one entry for each output channel", elements(2, 7)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       item(3, 0, 3)},
                      {3, "is out of range", item(3, 0, 0)},
                      {4, "is out of range", item(4, 1, -1)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       item(4, 1, 0)},
                      {5, "must be less than the stride", item(5, 0, 2)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       item(5, 0, 1)},
                      {6, "is out of range", item(6, 0, 2)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       item(3, 0, 1 << 29)},
                      {6, "must have two numbers", items(6, 1)},
                      {7, "must be -255..255", number(7, 300)},
                      {8, "must be -128..127", number(8, 300)},
                      {9, "must be a constant", not_constant(9)},
                      {10, "has a value out of range", entry(10, 2, -40)},
                      {11, "must be -128..127", number(11, 300)},
                      {12, "must be activation_min..127", number(12, -300)},
                      {15, "must have the batch of the input", size(15, 0, 1)},
                      {15, "must have the extents that the input, the kernel and the padding give",
                       [](TestCall& c) { c.sizes_at(15)[2] += 1; }},
                  });
}

}  // namespace conv_transpose2d_test
}  // namespace deuteron
