// avg_pool2d_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/avg_pool2d/kernel.h"

#include "ops/avg_pool2d/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

struct Case {
  int32_t n, h, w, c, oh, ow, kh, kw, sh, sw, ph = 0, pw = 0;
  bool ceil_mode = false;
};

TestCall call_of(const Case& k, Random& random) {
  TestCall call(kQuantizedAvgPool2d);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  call.integers({k.kh, k.kw});
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.boolean(k.ceil_mode);
  for (int64_t v : {-128, 1830453504, -4}) call.integer(v);
  call.tensor(ScalarType::u8, {0});
  call.image(k.n, k.oh, k.ow, k.c);
  return call;
}

void check(const Case& k, uint32_t seed, int fill = 0) {
  SCOPED_TRACE(testing::Message() << "{" << k.n << "," << k.h << "," << k.w << "," << k.c << "," << k.oh << "," << k.ow << "," << k.kh
                                  << "," << k.kw << "," << k.sh << "," << k.sw << "," << k.ph << "," << k.pw << "," << k.ceil_mode
                                  << "} seed " << seed);
  Random random(seed);
  TestCall call = call_of(k, random);
  if (fill != 0) std::memset(call.tensor_at(0).data, fill, static_cast<size_t>(call.tensor_at(0).numel));
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(9).numel));
  avg_pool2d_reference({k.n, k.h, k.w, k.c, k.oh, k.ow, k.kh, k.kw, k.sh, k.sw, k.ph, k.pw}, data_of<int8_t>(call.tensor_at(0)),
                       expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(9)), expected);
}

TEST(AvgPool2dKernel, EqualsTheReference) {
  const Case cases[] = {
      {1, 25, 5, 64, 1, 1, 25, 5, 25, 5},          {2, 7, 9, 5, 3, 4, 2, 2, 2, 2},
      {1, 7, 9, 131, 4, 5, 3, 3, 2, 2, 1, 1},      {3, 6, 5, 7, 7, 6, 2, 4, 1, 1, 1, 2},
      {1, 7, 8, 3, 4, 4, 2, 2, 2, 2, 0, 0, true},  // 7 rows leave one: ceil_mode takes it
      {1, 5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1, true},  // (out-1)*stride reaches the padding's end: one less
      {1, 6, 10, 2, 1, 4, 5, 3, 7, 3, 0, 1, true}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {1, 100, 80, 3, 1, 1, 100, 80, 1, 1},
  };
  uint32_t seed = 1;
  for (const Case& k : cases) {
    check(k, seed++);
    check(k, seed++, -128);
    check(k, seed++, 127);
  }
}

TEST(AvgPool2dKernel, EqualsTheReferenceOnRandomShapes) {
  Random random(20253);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.n = random.in(1, 3), k.h = random.in(1, 14), k.w = random.in(1, 14), k.c = random.in(1, 80);
    k.kh = random.in(1, k.h), k.kw = random.in(1, k.w), k.sh = random.in(1, 4), k.sw = random.in(1, 4);
    k.ph = random.in(0, k.kh / 2), k.pw = random.in(0, k.kw / 2), k.ceil_mode = random.in(0, 1) == 1;
    // The rule of torch.nn.AvgPool2d.
    const auto out = [&](int32_t in, int32_t kernel, int32_t stride, int32_t pad) {
      int32_t o = (in + 2 * pad - kernel + (k.ceil_mode ? stride - 1 : 0)) / stride + 1;
      if (k.ceil_mode && (o - 1) * stride >= in + pad) --o;
      return o;
    };
    k.oh = out(k.h, k.kh, k.sh, k.ph), k.ow = out(k.w, k.kw, k.sw, k.pw);
    check(k, 1000 + i);
  }
}

TEST(AvgPool2dKernel, Refuses) {
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 7, 9, 5, 4, 5, 3, 3, 2, 2, 1, 1}, random);
    spoil(call);
    return call.refused();
  };
  const auto number = [&](int argument, int k, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(argument).list.items[k])->integer = v; });
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = planes; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(9).dim_order = planes; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::f32; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(9)[0] = 3; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(9)[1] = 6; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(9)[2] = 5; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(9)[3] = 4; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).list.count = 1; }), 1);
  EXPECT_EQ(number(1, 0, 0), 1);
  EXPECT_EQ(number(2, 1, 0), 2);
  EXPECT_EQ(number(2, 1, int64_t{1} << 32), 2);
  EXPECT_EQ(number(3, 0, -1), 3);
  EXPECT_EQ(number(3, 0, 3), 3);
  EXPECT_EQ(number(1, 0, 4096), 9);
}

}  // namespace
}  // namespace deuteron
