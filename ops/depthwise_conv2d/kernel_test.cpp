// depthwise_conv2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/depthwise_conv2d/kernel.h"

#include "ops/depthwise_conv2d/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

struct Case {
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

void check(const Case& k, uint32_t seed, int fill_x = 0, int fill_weight = 0) {
  SCOPED_TRACE(testing::Message() << "{" << k.n << "," << k.h << "," << k.w << "," << k.c << "," << k.multiplier << "," << k.kh << ","
                                  << k.kw << "," << k.oh << "," << k.ow << "," << k.sh << "," << k.sw << "," << k.ph << "," << k.pw << ","
                                  << k.dh << "," << k.dw << "," << k.x_offset << "," << k.y_zero << "," << k.low << "," << k.high
                                  << "} seed " << seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  if (fill_x != 0) std::memset(call.tensor_at(0).data, fill_x, static_cast<size_t>(call.tensor_at(0).numel));
  if (fill_weight != 0) std::memset(call.tensor_at(1).data, fill_weight, static_cast<size_t>(call.tensor_at(1).numel));
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  const DepthwiseConv2dArgs a{k.n,
                              k.h,
                              k.w,
                              k.c,
                              k.oh,
                              k.ow,
                              k.c * k.multiplier,
                              k.multiplier,
                              k.kh,
                              k.kw,
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
                              data_of<int32_t>(call.tensor_at(9)),
                              data_of<int32_t>(call.tensor_at(10))};
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(14).numel));
  depthwise_conv2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                             k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr, expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(14)), expected);
}

TEST(DepthwiseConv2dKernel, EqualsTheReference) {
  const Case cases[] = {
      {1, 6, 7, 5, 1, 3, 3, 6, 7, 1, 1, 1, 1},
      {1, 25, 5, 64, 1, 3, 3, 25, 5, 1, 1, 1, 1},
      {1, 9, 7, 131, 1, 3, 5, 5, 4, 2, 2, 1, 2},     // more channels than one block of sums, and a rest
      {2, 6, 7, 9, 1, 3, 3, 3, 3, 2, 3, 0, 1},       // batch 2
      {1, 58, 12, 1, 64, 10, 4, 25, 5, 2, 2, 0, 0},  // one input channel, all filters: a first layer
      {1, 9, 8, 1, 75, 3, 3, 9, 8, 1, 1, 1, 1},
      {1, 5, 6, 3, 2, 3, 3, 5, 6, 1, 1, 1, 1},  // multiplier
      {2, 5, 6, 7, 4, 2, 3, 4, 6, 1, 1, 0, 1},
      {1, 11, 13, 6, 1, 3, 2, 4, 4, 2, 3, 1, 0, 2, 2},  // dilation
      {1, 8, 8, 12, 1, 3, 3, 4, 4, 2, 2, 0, 0},         // TensorFlow SAME, stride 2: pads after only
      {1, 7, 6, 3, 1, 5, 4, 7, 6, 1, 1, 2, 1},          // SAME with an even kernel
      {1, 5, 6, 2, 1, 3, 3, 5, 6},                      // all padding after
      {1, 3, 4, 2, 1, 1, 1, 7, 8, 1, 1, 2, 2},          // windows wholly in the padding
      {1, 2, 2, 3, 1, 7, 7, 2, 2, 1, 1, 3, 3},          // kernel larger than the input
      {1, 4, 1, 1, 1, 3, 1, 4, 1, 1, 1, 1, 0},
      {1, 6, 7, 5, 1, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, 128, 127, -3, 90},
      {1, 6, 7, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, -127, -128, 5, 9, -31, 30},
  };
  uint32_t seed = 1;
  for (Case k : cases) {
    check(k, seed++);
    check(k, seed++, -128, -128);
    check(k, seed++, 127, -128);
    k.bias = false;
    check(k, seed++);
  }
}

TEST(DepthwiseConv2dKernel, EqualsTheReferenceOnRandomShapes) {
  Random random(20252);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 90);
    k.multiplier = random.in(0, 2) ? 1 : random.in(2, 9), k.kh = random.in(1, 5), k.kw = random.in(1, 5);
    k.sh = random.in(1, 3), k.sw = random.in(1, 3), k.ph = random.in(0, 4), k.pw = random.in(0, 4), k.dh = random.in(1, 3),
    k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1), k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_offset = random.in(-255, 255), k.y_zero = random.in(-128, 127), k.low = random.in(-128, 127), k.high = random.in(k.low, 127);
    k.bias = random.in(0, 1) == 1;
    check(k, 1000 + i);
  }
}

TEST(DepthwiseConv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{1, 6, 7, 4, 2, 3, 3, 6, 7, 1, 1, 1, 1};
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of(k, random);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t planes[] = {0, 1, 2, 3}, turned[] = {0, 3, 1, 2};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = planes; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(1).dim_order = turned; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[0] = 2; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[3] = 4; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[1] = 0; }), 14);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 3; }), 14);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 0; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = (int64_t{1} << 32) + 2; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).numel = 4; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(5).list.count = 3; }), 5);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(7).integer = -256; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(8).integer = 128; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(9).constant = false; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { data_of<int32_t>(c.tensor_at(10))[7] = 31; }), 10);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(12).integer = -129; }), 12);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(14)[3] = 9; }), 14);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(14)[0] = 2; }), 14);
}

}  // namespace
}  // namespace deuteron
