// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "kernels/avg_pool2d/kernel.h"

#include <gmock/gmock.h>

#include "kernels/avg_pool2d/reference.h"
#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace avg_pool2d_test {

struct Case {
  const char* name;
  int32_t n, h, w, c, oh, ow, kh, kw, sh, sw, ph = 0, pw = 0;
  bool ceil_mode = false;
  bool up = false;  // halves
};
int32_t base_of(const Case& k) { return k.up ? kBytesBase : 0; }

TestCall call_of(const Case& k, Random& random) {
  TestCall call(k.up ? kAvgPool2dHalvesUp : kQuantizedAvgPool2d);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  call.integers({k.kh, k.kw});
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.boolean(k.ceil_mode);
  if (!k.up) {
    for (int64_t v : {-128, 1830453504, -4}) call.integer(v);
    call.tensor(ScalarType::u8, {0});
  }
  call.image(k.n, k.oh, k.ow, k.c);
  return call;
}

void check(KernelCases& cases, const Case& k, uint32_t seed, int fill = 0) {
  const std::string name =
      line(k.name,
           {k.n, k.h, k.w, k.c, k.oh, k.ow, k.kh, k.kw, k.sh, k.sw, k.ph, k.pw, k.ceil_mode, k.up},
           seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  if (fill != 0)
    std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
  cases.run(name, call);
  const int out = k.up ? 5 : 9;
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(out).numel));
  avg_pool2d_reference(
      {k.n, k.h, k.w, k.c, k.oh, k.ow, k.kh, k.kw, k.sh, k.sw, k.ph, k.pw, base_of(k)},
      data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.expect(out, expected);
}

TEST(AvgPool2dKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"the whole image", 1, 25, 5, 64, 1, 1, 25, 5, 25, 5},
      {"batch 2, 2x2", 2, 7, 9, 5, 3, 4, 2, 2, 2, 2},
      {"131 channels, pads 1", 1, 7, 9, 131, 4, 5, 3, 3, 2, 2, 1, 1},
      {"an uneven window, batch 3", 3, 6, 5, 7, 7, 6, 2, 4, 1, 1, 1, 2},
      {"7 rows leave one: ceil_mode takes it", 1, 7, 8, 3, 4, 4, 2, 2, 2, 2, 0, 0, true},
      {"(out-1)*stride reaches the padding's end: one less", 1, 5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1,
       true},
      {"ceil_mode, stride above the window", 1, 6, 10, 2, 1, 4, 5, 3, 7, 3, 0, 1, true},
      {"one element", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {"a large window", 1, 100, 80, 3, 1, 1, 100, 80, 1, 1},
  };
  uint32_t seed = 1;
  for (Case k : table)
    for (const bool up : {false, true}) {
      k.up = up;
      check(cases, k, seed++);
      check(cases, k, seed++, -128);
      check(cases, k, seed++, 127);
    }
}

// -1 and 0, -2 and -1, 0 and 1.
TEST(AvgPool2dKernel, RoundsHalvesUpWhereItSaysSo) {
  const int8_t x[] = {-1, 0, -2, -1, 0, 1};
  int8_t y[3], up[3];
  avg_pool2d_s8({1, 1, 6, 1, 1, 3, 1, 2, 1, 2, 0, 0, 0}, x, y);
  EXPECT_THAT(y, testing::ElementsAre(-1, -2, 1));
  avg_pool2d_s8({1, 1, 6, 1, 1, 3, 1, 2, 1, 2, 0, 0, kBytesBase}, x, up);
  EXPECT_THAT(up, testing::ElementsAre(0, -1, 1));
}

// The largest sum: 255 * 2^23 and half of 2^23 fit int32.
TEST(AvgPool2dKernel, TakesAsLargeAWindowAsItSays) {
  const std::vector<int8_t> x(size_t{1} << 23, 127);
  int8_t y = 0;
  avg_pool2d_s8({1, 1 << 11, 1 << 12, 1, 1, 1, 1 << 11, 1 << 12, 1, 1, 0, 0, kBytesBase}, x.data(),
                &y);
  EXPECT_EQ(y, 127);
}

TEST(AvgPool2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20253);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 14), k.w = random.in(1, 14), k.c = random.in(1, 80);
    k.kh = random.in(1, k.h), k.kw = random.in(1, k.w), k.sh = random.in(1, 4),
    k.sw = random.in(1, 4);
    k.ph = random.in(0, k.kh / 2), k.pw = random.in(0, k.kw / 2),
    k.ceil_mode = random.in(0, 1) == 1, k.up = random.in(0, 1) == 1;
    // The rule of torch.nn.AvgPool2d.
    const auto out = [&](int32_t in, int32_t kernel, int32_t stride, int32_t pad) {
      int32_t o = (in + 2 * pad - kernel + (k.ceil_mode ? stride - 1 : 0)) / stride + 1;
      if (k.ceil_mode && (o - 1) * stride >= in + pad) --o;
      return o;
    };
    k.oh = out(k.h, k.kh, k.sh, k.ph), k.ow = out(k.w, k.kw, k.sw, k.pw);
    check(cases, k, 1000 + i);
  }
}

TEST(AvgPool2dKernel, Refuses) {
  const auto make = [&] {
    Random random(7);
    return call_of({"", 2, 7, 9, 5, 4, 5, 3, 3, 2, 2, 1, 1}, random);
  };
  expect_refusals(make, {
                            {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                            {9, "must be stored channels-last", order(9, {0, 1, 2, 3})},
                            {0, "must be int8", type(0, ScalarType::f32)},
                            {9, "must have the batch of the input", size(9, 0, 3)},
                            {9, "must have the channels of the input", size(9, 1, 6)},
                            {9, "must have one place for each window", size(9, 2, 5)},
                            {9, "must have one place for each window", size(9, 3, 4)},
                            {1, "must have two numbers", items(1, 1)},
                            {1, "is out of range", item(1, 0, 0)},
                            {2, "is out of range", item(2, 1, 0)},
                            {2, "is out of range", item(2, 1, int64_t{1} << 32)},
                            {3, "is out of range", item(3, 0, -1)},
                            {3, "must be less than the kernel", item(3, 0, 3)},
                            {9, "must have one place for each window", item(1, 0, 4096)},
                        });
}

TEST(AvgPool2dKernel, StaysInsideItsTensors) {
  expect_inside(kAvgPool2dHalvesUp, "x8:2,3,7,9:0231 l:3,3 l:2,2 l:1,1 b:0 x8:2,3,4,5:0231");
}

}  // namespace avg_pool2d_test
}  // namespace deuteron
