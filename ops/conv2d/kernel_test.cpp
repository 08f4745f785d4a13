// conv2d_s8 and its binding against the reference, bit for bit, over shapes whose extents all differ; and what prepare() refuses.
#include "ops/conv2d/kernel.h"

#include "ops/conv2d/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

struct Case {
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

void check(const Case& k, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "{" << k.n << "," << k.h << "," << k.w << "," << k.c << "," << k.oc << "," << k.kh << "," << k.kw
                                  << "," << k.kc << "," << k.oh << "," << k.ow << "," << k.sh << "," << k.sw << "," << k.ph << "," << k.pw
                                  << "," << k.dh << "," << k.dw << "," << k.x_offset << "," << k.y_zero << "," << k.low << "," << k.high
                                  << "} seed " << seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  call.run();
  if (testing::Test::HasFatalFailure()) return;
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
  EXPECT_EQ(contents<int8_t>(call.tensor_at(13)), expected);
}

TEST(Conv2dKernel, EqualsTheReference) {
  const Case cases[] = {
      {1, 6, 7, 3, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1},
      {2, 5, 9, 7, 6, 1, 1, 7, 5, 9},                      // 1x1
      {1, 5, 9, 8, 3, 1, 1, 8, 3, 5, 2, 2},                // 1x1, stride
      {3, 1, 11, 4, 9, 1, 5, 4, 1, 11, 1, 1, 0, 2},        // 1xN
      {1, 11, 13, 5, 4, 3, 2, 5, 4, 4, 2, 3, 1, 0, 2, 2},  // stride and dilation
      {2, 7, 5, 6, 8, 3, 3, 3, 7, 5, 1, 1, 1, 1},          // two groups
      {2, 7, 5, 6, 12, 2, 3, 2, 6, 5, 1, 1, 0, 1},         // three groups
      {2, 9, 8, 5, 5, 3, 3, 1, 5, 4, 2, 2, 1, 1},          // depthwise, batch 2
      {1, 4, 3, 5, 15, 3, 3, 1, 4, 3, 1, 1, 1, 1},         // depthwise, multiplier 3
      {1, 3, 4, 2, 70, 2, 2, 2, 2, 3},                     // more filters than one block of sums
      {1, 6, 5, 130, 67, 3, 3, 130, 6, 5, 1, 1, 1, 1},     // a window longer than the widened row: parts of taps
      {1, 2, 3, 1500, 5, 1, 2, 1500, 2, 3, 1, 1, 0, 1},    // channels longer than it: parts of channels
      {1, 3, 3, 2500, 9, 3, 3, 2500, 1, 1},
      {1, 4, 3, 2060, 6, 2, 2, 1030, 3, 3, 1, 1, 0, 1, 1, 2},  // the same in two groups, dilated
      {1, 8, 8, 3, 4, 3, 3, 3, 4, 4, 2, 2, 0, 0},              // TensorFlow SAME, stride 2: pads after only
      {1, 7, 6, 3, 4, 5, 4, 3, 7, 6, 1, 1, 2, 1},              // SAME with an even kernel
      {1, 5, 6, 2, 3, 3, 3, 2, 5, 6, 1, 1, 0, 0},              // all padding after
      {1, 5, 6, 2, 3, 3, 3, 2, 1, 2},                          // fewer outputs than fit
      {1, 3, 4, 2, 3, 1, 1, 2, 7, 8, 1, 1, 2, 2},              // windows wholly in the padding
      {1, 2, 2, 3, 4, 7, 7, 3, 2, 2, 1, 1, 3, 3},              // kernel larger than the input
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {1, 6, 7, 3, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, 128, 127, -3, 90},  // a fused activation, extreme offsets
      {1, 6, 7, 3, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, -127, -128, 0, 0},
      {1, 6, 7, 3, 5, 3, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, 5, 9, -128, 127, -31, 30},  // every shift, sums that wrap
      {0, 6, 7, 3, 5, 3, 3, 3, 4, 5},                                              // nothing to do
  };
  uint32_t seed = 1;
  for (Case k : cases) {
    check(k, seed++);
    k.bias = false;
    check(k, seed++);
  }
}

TEST(Conv2dKernel, EqualsTheReferenceOnRandomShapes) {
  Random random(20251);
  for (uint32_t i = 0; i < 300; ++i) {
    const int32_t groups = random.in(1, 3);
    Case k{};
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.kc = random.in(1, 20), k.c = k.kc * groups;
    k.oc = groups * random.in(1, 9), k.kh = random.in(1, 5), k.kw = random.in(1, 5);
    k.sh = random.in(1, 3), k.sw = random.in(1, 3), k.ph = random.in(0, 4), k.pw = random.in(0, 4), k.dh = random.in(1, 3),
    k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1), k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_offset = random.in(-255, 255), k.y_zero = random.in(-128, 127), k.low = random.in(-128, 127), k.high = random.in(k.low, 127);
    k.bias = random.in(0, 1) == 1;
    check(k, 1000 + i);
  }
}

TEST(Conv2dKernel, SaturatesWithExtremes) {
  for (const int8_t fill : {int8_t{-128}, int8_t{127}}) {
    Random random(5);
    TestCall call = call_of({1, 5, 4, 600, 3, 3, 3, 600, 5, 4, 1, 1, 1, 1, 1, 1, -127, 0, -128, 127, -8, 2}, random);
    std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
    std::memset(call.tensor_at(1).data, -128, static_cast<size_t>(call.tensor_at(1).numel));
    call.run();
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
    conv2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)), data_of<int32_t>(call.tensor_at(2)),
                     expected.data());
    EXPECT_EQ(contents<int8_t>(call.tensor_at(13)), expected);
  }
}

// Layouts that differ only in dimensions of one element are the same bytes.
TEST(Conv2dKernel, TakesAmbiguousOrders) {
  Random random(6);
  TestCall call = call_of({1, 6, 7, 1, 5, 3, 3, 1, 6, 7, 1, 1, 1, 1}, random);
  uint8_t one_channel[] = {0, 2, 1, 3}, weight[] = {0, 3, 1, 2};
  call.tensor_at(0).dim_order = one_channel;
  call.tensor_at(1).dim_order = weight;
  EXPECT_EQ(call.refused(), -1);
}

TEST(Conv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{2, 6, 7, 4, 6, 3, 3, 2, 6, 7, 1, 1, 1, 1};
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of(k, random);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = planes; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(13).dim_order = planes; }), 13);
  uint8_t turned[] = {0, 3, 1, 2};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(1).dim_order = turned; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::u8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 3; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(1).type = ScalarType::s32; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[0] = 7; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[3] = 3; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[3] = 0; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[2] = 0; }), 13);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).numel = 5; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).type = ScalarType::f32; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).data = data_of<char>(c.tensor_at(2)) + 2; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(3).list.count = 1; }), 3);
  const auto number = [&](int argument, int k_th, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(argument).list.items[k_th])->integer = v; });
  };
  EXPECT_EQ(number(3, 0, 0), 3);
  EXPECT_EQ(number(3, 1, int64_t{1} << 40), 3);
  EXPECT_EQ(number(4, 1, -1), 4);
  EXPECT_EQ(number(5, 0, 0), 5);
  EXPECT_EQ(number(3, 0, 3), 13);        // the last windows would begin behind the input
  EXPECT_EQ(number(5, 0, 1 << 29), 13);  // reach beyond int32
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 256; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(7).integer = -129; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(10).integer = int64_t{1} << 33; }), 10);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(10).integer = 5, c.argument(11).integer = 4; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(8).numel = 3; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(8).constant = false; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { data_of<int32_t>(c.tensor_at(8))[4] = INT32_MIN; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { data_of<int32_t>(c.tensor_at(9))[5] = 31; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { data_of<int32_t>(c.tensor_at(9))[0] = -32; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(13)[0] = 1; }), 13);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(13)[2] = 8; }), 13);
}

}  // namespace
}  // namespace deuteron
