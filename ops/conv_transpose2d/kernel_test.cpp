// conv_transpose2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/conv_transpose2d/kernel.h"

#include "ops/conv_transpose2d/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

struct Case {
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

void check(const Case& k, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "{" << k.n << "," << k.h << "," << k.w << "," << k.c << "," << k.oc << "," << k.kh << "," << k.kw
                                  << "," << k.sh << "," << k.sw << "," << k.ph << "," << k.pw << "," << k.more_h << "," << k.more_w
                                  << "} seed " << seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  call.run();
  if (testing::Test::HasFatalFailure()) return;
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
  conv_transpose2d_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                             k.bias ? data_of<int32_t>(call.tensor_at(2)) : nullptr, expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(15)), expected);
}

TEST(ConvTranspose2dKernel, EqualsTheReference) {
  const Case cases[] = {
      {1, 4, 5, 4, 3, 2, 2, 2, 2},  // an instruction of a stock file
      {2, 5, 4, 17, 6, 3, 3, 2, 2, 1, 1},
      {1, 3, 4, 5, 70, 4, 3, 1, 2, 2, 0},
      {1, 4, 3, 6, 3, 1, 1, 2, 2},  // stride above the kernel: holes hold the bias
      {1, 4, 3, 6, 3, 2, 2, 2, 2, 1, 1},
      {1, 4, 5, 3, 2, 3, 3, 2, 2, 2, 2},
      {1, 5, 6, 3, 2, 3, 3, 4, 4, 2, 2},
      {1, 5, 5, 3, 2, 2, 2, 3, 3, 1, 1},
      {2, 3, 4, 2, 3, 5, 2, 3, 1, 1, 0, 2, 0},  // output padding
      {1, 2, 3, 1500, 5, 2, 2, 2, 2},
      {1, 1, 1, 1, 1, 1, 1},
      {1, 4, 5, 4, 3, 3, 2, 2, 1, 0, 0, 0, 0, -127, 127, -30, 50},
      {1, 3, 7, 4, 3, 7, 3, 1, 5, 3, 1, 0, 4, 128, -128, -128, 127},
  };
  uint32_t seed = 1;
  for (Case k : cases) {
    check(k, seed++);
    k.bias = false;
    check(k, seed++);
  }
}

TEST(ConvTranspose2dKernel, EqualsTheReferenceOnRandomShapes) {
  Random random(20256);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.n = random.in(1, 3), k.h = random.in(1, 7), k.w = random.in(1, 7), k.c = random.in(1, 40), k.oc = random.in(1, 9);
    k.kh = random.in(1, 5), k.kw = random.in(1, 5), k.sh = random.in(1, 4), k.sw = random.in(1, 4);
    k.ph = random.in(0, k.kh - 1), k.pw = random.in(0, k.kw - 1), k.more_h = random.in(0, k.sh - 1), k.more_w = random.in(0, k.sw - 1);
    k.bias = random.in(0, 1) == 1;
    if (k.out_h() < 1 || k.out_w() < 1) continue;
    check(k, 1000 + i);
  }
}

TEST(ConvTranspose2dKernel, RefusesWhatWouldLeaveATensor) {
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 5, 4, 7, 6, 3, 3, 2, 2, 1, 1}, random);
    spoil(call);
    return call.refused();
  };
  const auto number = [&](int argument, int k, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(argument).list.items[k])->integer = v; });
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t planes[] = {0, 1, 2, 3}, turned[] = {3, 0, 1, 2};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = planes; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(1).dim_order = turned; }), 1);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(15).dim_order = planes; }), 15);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[0] = 7; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[3] = 6; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[1] = 4; }), 15);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).numel = 7; }), 2);
  EXPECT_EQ(number(3, 0, 3), 15);
  EXPECT_EQ(number(3, 0, 0), 3);
  EXPECT_EQ(number(4, 1, -1), 4);
  EXPECT_EQ(number(4, 1, 0), 15);
  EXPECT_EQ(number(5, 0, 2), 5);
  EXPECT_EQ(number(5, 0, 1), 15);
  EXPECT_EQ(number(6, 0, 2), 6);
  EXPECT_EQ(number(3, 0, 1 << 29), 15);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).list.count = 1; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(7).integer = 300; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(8).integer = 300; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(9).constant = false; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { data_of<int32_t>(c.tensor_at(10))[2] = -40; }), 10);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(11).integer = 300; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(12).integer = -300; }), 12);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(15)[0] = 1; }), 15);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(15)[2] += 1; }), 15);
}

}  // namespace
}  // namespace deuteron
