// matmul_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "ops/matmul/kernel.h"

#include "ops/kernels.h"
#include "ops/matmul/reference.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

TestCall call_of(const MatmulArgs& a, Random& random) {
  TestCall call(kQuantizedBatchMatmul);
  random.fill(call.tensor(ScalarType::s8, {a.batch, a.rows, a.inner}));
  call.integer(a.x_offset);
  random.fill(call.tensor(ScalarType::s8, {a.batch, a.columns, a.inner}));
  for (int32_t v : {a.other_offset, a.y_zero, a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::u8, {0});
  call.tensor(ScalarType::s8, {a.batch, a.rows, a.columns});
  return call;
}

TEST(MatmulKernel, EqualsTheReference) {
  const MatmulArgs cases[] = {
      {2, 4, 5, 6, 41, 4, 41, 1109366862, -6},  // an instruction of a stock file
      {1, 1, 1, 1, 0, 0, 0, 1073741824, 0},
      {3, 7, 67, 33, -128, 128, -128, 1500000000, -9},
      {2, 3, 5, 2500, 255, -255, 127, 2147483647, -14},
      {1, 9, 4, 1024, -7, 3, 9, 1999999999, 30},
      {5, 2, 3, 0, 7, 8, 21, 1073741824, -3},
      {0, 2, 3, 4, 7, 8, 21, 1073741824, -3},
  };
  uint32_t seed = 1;
  for (const MatmulArgs& a : cases)
    for (const int fill : {0, -128, 127}) {
      Random random(seed++);
      TestCall call = call_of(a, random);
      for (const int operand : {0, 2})
        if (fill != 0 && call.tensor_at(operand).numel > 0)
          std::memset(call.tensor_at(operand).data, fill, static_cast<size_t>(call.tensor_at(operand).numel));
      call.run();
      std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(8).numel));
      matmul_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(2)), expected.data());
      EXPECT_EQ(contents<int8_t>(call.tensor_at(8)), expected) << a.rows << " " << a.columns << " " << a.inner;
    }
}

TEST(MatmulKernel, Refuses) {
  const auto refused = [](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 4, 5, 6, 41, 4, 41, 1109366862, -6}, random);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t turned[] = {0, 2, 1};
  for (const int t : {0, 2, 8}) {
    EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(t).dim_order = turned; }), t);
    EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(t).rank = 2; }), t);
    EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(t).type = ScalarType::s32; }), t);
  }
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(2)[0] = 1; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(2)[2] = 5; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(8)[1] = 5; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(8)[2] = 6; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).integer = 256; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(3).integer = -256; }), 3);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(4).integer = 128; }), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(5).integer = int64_t{1} << 31; }), 5);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 31; }), 6);
}

}  // namespace
}  // namespace deuteron
