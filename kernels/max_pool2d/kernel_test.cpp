// SPDX-License-Identifier: Apache-2.0
// max_pool2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "kernels/max_pool2d/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/max_pool2d/reference.h"

namespace deuteron {
namespace max_pool2d_test {

struct Case {
  const char* name;
  MaxPool2dArgs a;
};

TestCall call_of(const MaxPool2dArgs& a, Random& random) {
  TestCall call(kQuantizedMaxPool2d);
  random.fill(call.image(a.n, a.in_h, a.in_w, a.channels));
  call.integers({a.kernel_h, a.kernel_w});
  call.integers({a.stride_h, a.stride_w});
  call.integers({a.pad_h, a.pad_w});
  call.integers({a.dilation_h, a.dilation_w});
  call.boolean(false);
  for (int32_t v : {-34, -34, a.y_min, a.y_max}) call.integer(v);
  call.image(a.n, a.out_h, a.out_w, a.channels);
  return call;
}

void check(KernelCases& cases, const Case& k, uint32_t seed, int fill = 0) {
  const MaxPool2dArgs& a = k.a;
  const std::string name =
      line(k.name,
           {a.n, a.in_h, a.in_w, a.channels, a.out_h, a.out_w, a.kernel_h, a.kernel_w, a.stride_h,
            a.stride_w, a.pad_h, a.pad_w, a.dilation_h, a.dilation_w, a.y_min, a.y_max},
           seed);
  Random random(seed);
  TestCall call = call_of(a, random);
  if (fill != 0)
    std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
  cases.run(name, call);
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(10).numel));
  max_pool2d_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  cases.expect(10, expected);
}

TEST(MaxPool2dKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, uneven", {1, 7, 9, 5, 3, 4, 3, 3, 2, 2, 0, 0, 1, 1, -128, 127}},
      {"a fused relu", {2, 7, 9, 67, 4, 5, 3, 3, 2, 2, 1, 1, 1, 1, -34, 127}},
      {"2x2, clamped", {1, 6, 5, 3, 3, 2, 2, 2, 2, 2, 0, 0, 1, 1, -20, 31}},
      {"dilation", {3, 9, 8, 4, 5, 4, 3, 2, 1, 2, 0, 1, 2, 2, -128, 127}},
      {"a last window that reaches past the end",
       {1, 7, 7, 2, 4, 4, 2, 2, 2, 2, 0, 0, 1, 1, -128, 127}},
      {"windows wholly in the padding", {1, 4, 5, 3, 6, 7, 2, 3, 1, 1, 2, 3, 1, 1, -100, 127}},
      {"one element", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 5, 5}},
  };
  uint32_t seed = 1;
  for (const Case& k : table) {
    check(cases, k, seed++);
    check(cases, k, seed++, -128);
    check(cases, k, seed++, 127);
  }
}

TEST(MaxPool2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases cases;
  Random random(20254);
  for (uint32_t i = 0; i < 300; ++i) {
    MaxPool2dArgs a{};
    a.n = random.in(1, 3), a.in_h = random.in(1, 12), a.in_w = random.in(1, 12),
    a.channels = random.in(1, 80);
    a.kernel_h = random.in(1, 5), a.kernel_w = random.in(1, 5), a.stride_h = random.in(1, 3),
    a.stride_w = random.in(1, 3);
    a.pad_h = random.in(0, 3), a.pad_w = random.in(0, 3), a.dilation_h = random.in(1, 3),
    a.dilation_w = random.in(1, 3);
    a.out_h = random.in(1, (a.in_h - 1 + a.pad_h) / a.stride_h + 1),
    a.out_w = random.in(1, (a.in_w - 1 + a.pad_w) / a.stride_w + 1);
    a.y_min = random.in(-128, 127), a.y_max = random.in(a.y_min, 127);
    check(cases, {"random", a}, 1000 + i);
  }
}

TEST(MaxPool2dKernel, Refuses) {
  const auto make = [&] {
    Random random(7);
    return call_of({2, 7, 9, 5, 4, 5, 3, 3, 2, 2, 1, 1, 1, 1, -128, 127}, random);
  };
  expect_refusals(make, {
                            {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                            {10, "must be stored channels-last", order(10, {0, 1, 2, 3})},
                            {10, "must have the channels of the input", size(10, 1, 6)},
                            {10, "has more windows than the input has places", size(10, 2, 6)},
                            {1, "is out of range", item(1, 0, 0)},
                            {1, "is out of range", item(1, 0, int64_t{1} << 35)},
                            {2, "is out of range", item(2, 1, 0)},
                            {3, "is out of range", item(3, 0, -1)},
                            {4, "is out of range", item(4, 0, 0)},
                            {4, "must have two numbers", items(4, 1)},
                            {6, "must be -128..127", number(6, 200)},
                            {7, "must be the input's zero point", number(7, -33)},
                            {8, "must be -128..127", number(8, 128)},
                            {9, "must be activation_min..127", numbers(8, 9, 9, 8)},
                        });
}

}  // namespace max_pool2d_test
}  // namespace deuteron
