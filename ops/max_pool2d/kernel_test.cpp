// max_pool2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/max_pool2d/kernel.h"

#include "ops/kernels.h"
#include "ops/max_pool2d/reference.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

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

void check(const MaxPool2dArgs& a, uint32_t seed, int fill = 0) {
  SCOPED_TRACE(testing::Message() << "{" << a.n << "," << a.in_h << "," << a.in_w << "," << a.channels << "," << a.out_h << "," << a.out_w
                                  << "," << a.kernel_h << "," << a.kernel_w << "," << a.stride_h << "," << a.stride_w << "," << a.pad_h
                                  << "," << a.pad_w << "," << a.dilation_h << "," << a.dilation_w << "," << a.y_min << "," << a.y_max
                                  << "} seed " << seed);
  Random random(seed);
  TestCall call = call_of(a, random);
  if (fill != 0) std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(10).numel));
  max_pool2d_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(10)), expected);
}

TEST(MaxPool2dKernel, EqualsTheReference) {
  const MaxPool2dArgs cases[] = {
      {1, 7, 9, 5, 3, 4, 3, 3, 2, 2, 0, 0, 1, 1, -128, 127}, {2, 7, 9, 67, 4, 5, 3, 3, 2, 2, 1, 1, 1, 1, -34, 127},  // a fused relu
      {1, 6, 5, 3, 3, 2, 2, 2, 2, 2, 0, 0, 1, 1, -20, 31},   {3, 9, 8, 4, 5, 4, 3, 2, 1, 2, 0, 1, 2, 2, -128, 127},  // dilation
      {1, 7, 7, 2, 4, 4, 2, 2, 2, 2, 0, 0, 1, 1, -128, 127},  // a last window that reaches past the end
      {1, 4, 5, 3, 6, 7, 2, 3, 1, 1, 2, 3, 1, 1, -100, 127},  // windows wholly in the padding
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 5, 5},
  };
  uint32_t seed = 1;
  for (const MaxPool2dArgs& a : cases) {
    check(a, seed++);
    check(a, seed++, -128);
    check(a, seed++, 127);
  }
}

TEST(MaxPool2dKernel, EqualsTheReferenceOnRandomShapes) {
  Random random(20254);
  for (uint32_t i = 0; i < 300; ++i) {
    MaxPool2dArgs a{};
    a.n = random.in(1, 3), a.in_h = random.in(1, 12), a.in_w = random.in(1, 12), a.channels = random.in(1, 80);
    a.kernel_h = random.in(1, 5), a.kernel_w = random.in(1, 5), a.stride_h = random.in(1, 3), a.stride_w = random.in(1, 3);
    a.pad_h = random.in(0, 3), a.pad_w = random.in(0, 3), a.dilation_h = random.in(1, 3), a.dilation_w = random.in(1, 3);
    a.out_h = random.in(1, (a.in_h - 1 + a.pad_h) / a.stride_h + 1), a.out_w = random.in(1, (a.in_w - 1 + a.pad_w) / a.stride_w + 1);
    a.y_min = random.in(-128, 127), a.y_max = random.in(a.y_min, 127);
    check(a, 1000 + i);
  }
}

TEST(MaxPool2dKernel, Refuses) {
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 7, 9, 5, 4, 5, 3, 3, 2, 2, 1, 1, 1, 1, -128, 127}, random);
    spoil(call);
    return call.refused();
  };
  const auto number = [&](int argument, int k, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(argument).list.items[k])->integer = v; });
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = planes; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(10).dim_order = planes; }), 10);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(10)[1] = 6; }), 10);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(10)[2] = 6; }), 10);
  EXPECT_EQ(number(1, 0, 0), 1);
  EXPECT_EQ(number(1, 0, int64_t{1} << 35), 1);
  EXPECT_EQ(number(2, 1, 0), 2);
  EXPECT_EQ(number(3, 0, -1), 3);
  EXPECT_EQ(number(4, 0, 0), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(4).list.count = 1; }), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 200; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(7).integer = -33; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(8).integer = 128; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(8).integer = 9, c.argument(9).integer = 8; }), 9);
}

}  // namespace
}  // namespace deuteron
