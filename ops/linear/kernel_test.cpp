// linear_s8 in both forms of its first summand against the reference, bit for bit; and what prepare() refuses.
#include "ops/linear/kernel.h"

#include "ops/kernels.h"
#include "ops/linear/reference.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

enum class Form { none, bias, kernel_sum };
struct Case {
  std::vector<int32_t> leading;
  LinearArgs a;
  Form form = Form::bias;
};

// The kernel_sum that a compiler for MVE writes: the bias plus x_offset times the sum of each row of weights.
std::vector<int32_t> kernel_sums(const LinearArgs& a, const Tensor& weight, const std::vector<int32_t>& bias) {
  std::vector<int32_t> sums = bias;
  for (int32_t o = 0; o < a.out; ++o)
    for (int32_t i = 0; i < a.in; ++i)
      sums[static_cast<size_t>(o)] += a.x_offset * (data_of<int8_t>(weight)[o * a.in + i] + a.weight_offset);
  return sums;
}

TestCall call_of(const Case& k, const std::vector<int32_t>& bias, Random& random) {
  TestCall call(kQuantizedLinear);
  std::vector<int32_t> in = k.leading, out = k.leading;
  in.push_back(k.a.in);
  out.push_back(k.a.out);
  random.fill(call.tensor(ScalarType::s8, in));
  Tensor& weight = call.tensor(ScalarType::s8, {k.a.out, k.a.in});
  random.fill(weight);
  if (k.form == Form::bias) call.constants(bias);
  else call.none();
  if (k.form == Form::kernel_sum) {
    const std::vector<int32_t> sums = kernel_sums(k.a, weight, bias);
    Tensor& t = call.tensor(ScalarType::s32, {1, k.a.out});
    std::memcpy(t.data, sums.data(), sums.size() * 4);
    t.constant = true;
  } else {
    call.none();
  }
  for (int32_t v : {k.a.x_offset, k.a.weight_offset, k.a.y_zero}) call.integer(v);
  call.integers({k.a.multiplier});
  call.integers({k.a.shift});
  call.integer(k.a.y_max);
  call.integer(k.a.y_min);
  call.tensor(ScalarType::s8, out);
  return call;
}

void check(const Case& k, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "rows " << k.a.rows << " in " << k.a.in << " out " << k.a.out << " offsets " << k.a.x_offset << " "
                                  << k.a.weight_offset << " form " << static_cast<int>(k.form) << " seed " << seed);
  Random random(seed);
  const std::vector<int32_t> bias = random.list(k.a.out, -40000, 40000);
  TestCall call = call_of(k, bias, random);
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  std::vector<int8_t> expected(static_cast<size_t>(k.a.rows * k.a.out));
  linear_reference(k.a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                   k.form == Form::none ? nullptr : bias.data(), expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(11)), expected);
}

TEST(LinearKernel, EqualsTheReference) {
  struct Shape {
    std::vector<int32_t> leading;
    int32_t rows, in, out;
  };
  const Shape shapes[] = {{{1}, 1, 640, 128}, {{}, 1, 7, 3},     {{5}, 5, 9, 11},    {{2, 3}, 6, 13, 67},
                          {{1}, 1, 1, 1},     {{3}, 3, 1025, 5}, {{2}, 2, 5000, 70}, {{2, 1, 3, 2}, 12, 33, 4},
                          {{0}, 0, 5, 4},     {{1}, 1, 1024, 2}, {{7}, 7, 2048, 65}};
  const LinearArgs settings[] = {{0, 0, 0, -120, 0, -128, 1231339291, -7, -128, 127},
                                 {0, 0, 0, 128, 0, 127, 1073741824, -9, -50, 60},
                                 {0, 0, 0, -5, 17, 3, 2147483647, -12, -128, 127},
                                 {0, 0, 0, 255, -255, 0, 1500000000, -31, -128, 127},
                                 {0, 0, 0, 0, 0, -1, 1999999999, 30, -128, 127}};
  uint32_t seed = 1;
  for (const Shape& s : shapes)
    for (LinearArgs a : settings) {
      a.rows = s.rows, a.in = s.in, a.out = s.out;
      for (const Form form : {Form::none, Form::bias, Form::kernel_sum}) check({s.leading, a, form}, seed++);
    }
}

TEST(LinearKernel, RefusesWhatWouldLeaveATensor) {
  Case k{{4}, {4, 9, 6, 3, 0, 1, 1231339291, -7, -128, 127}, Form::bias};
  const auto refused = [&](auto spoil) {
    Random random(7);
    TestCall call = call_of(k, random.list(6, -9, 9), random);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  uint8_t turned[] = {1, 0};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(0).dim_order = turned; }), 0);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(1).dim_order = turned; }), 1);
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(11).dim_order = turned; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 0; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::s16; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(0)[1] = 8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[1] = 0; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[1] = 8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[0] = 7; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(11)[0] = 5; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(11).rank = 1; }), 11);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).numel = 5; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(3) = c.argument(2); }), 3);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(4).integer = 256; }), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(5).integer = -256; }), 5);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(6).integer = 200; }), 6);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(7).list.count = 0; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { const_cast<Value*>(c.argument(7).list.items[0])->integer = int64_t{1} << 31; }), 7);
  EXPECT_EQ(refused([](TestCall& c) { const_cast<Value*>(c.argument(8).list.items[0])->integer = 31; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(9).integer = 128; }), 9);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(10).integer = -129; }), 10);
  k.form = Form::kernel_sum;
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(3).numel = 7; }), 3);
}

}  // namespace
}  // namespace deuteron
