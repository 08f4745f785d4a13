// pad_s8 and its binding against the reference: every rank, both layouts, the ambiguous ones; and what prepare() refuses.
#include "ops/pad/kernel.h"

#include "ops/kernels.h"
#include "ops/pad/reference.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
using Pads = std::vector<int64_t>;

TestCall call_of(const Sizes& in, const Sizes& out, const Order& order, const Pads& before, const Pads& after, int64_t value,
                 Random& random) {
  TestCall call(kPad);
  random.fill(call.tensor(ScalarType::s8, in, order));
  call.integers(before);
  call.integers(after);
  call.integer(value);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

// Logical sizes, the dimensions outermost first in memory, and pads in the order of the lists, which is given by `entry`: the position
// in the lists of each dimension.
void check(const Sizes& in, const Order& order, const std::vector<size_t>& entry, const Pads& before, const Pads& after) {
  SCOPED_TRACE(testing::PrintToString(in) + testing::PrintToString(order) + testing::PrintToString(before) + testing::PrintToString(after));
  Sizes out = in;
  for (size_t k = 0; k < in.size(); ++k) out[k] += static_cast<int32_t>(before[entry[k]] + after[entry[k]]);
  Random random(1);
  TestCall call = call_of(in, out, order, before, after, 84, random);
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  PadArgs a{{1, 1, 1, 1}, {}, {}, 84};
  const size_t absent = 4 - in.size();
  for (size_t k = 0; k < in.size(); ++k) {
    const size_t dim = order[k];
    a.in[absent + k] = in[dim];
    a.before[absent + k] = static_cast<int32_t>(before[entry[dim]]);
    a.after[absent + k] = static_cast<int32_t>(after[entry[dim]]);
  }
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(4).numel));
  pad_reference(a, data_of<int8_t>(call.tensor_at(0)), expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(4)), expected);
}

TEST(PadKernel, EqualsTheReference) {
  const Order dense{0, 1, 2, 3}, last{0, 2, 3, 1}, one_channel{0, 2, 1, 3};
  check({2, 3, 4, 5}, dense, {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 4, 1, 0});
  check({2, 3, 4, 5}, last, {0, 3, 1, 2}, {1, 0, 2, 3}, {0, 4, 1, 0});
  check({2, 3, 4, 5}, last, {0, 3, 1, 2}, {0, 1, 1, 0}, {0, 1, 1, 0});
  check({1, 1, 49, 10}, one_channel, {0, 3, 1, 2}, {0, 4, 1, 0}, {0, 5, 1, 0});  // an instruction of a stock file
  check({2, 1, 4, 5}, dense, {0, 3, 1, 2}, {0, 4, 1, 0}, {0, 5, 1, 0});          // one channel: the lists are N,H,W,C all the same
  check({2, 7, 1, 1}, dense, {0, 3, 1, 2}, {0, 0, 0, 2}, {1, 0, 0, 5});          // one pixel: likewise
  check({2, 7, 1, 1}, dense, {0, 3, 1, 2}, {0, 2, 1, 0}, {0, 1, 1, 0});
  check({3, 4, 5}, {0, 1, 2}, {1, 2, 3}, {0, 1, 0, 2}, {0, 2, 3, 0});
  check({4, 5}, {0, 1}, {2, 3}, {0, 0, 1, 2}, {0, 0, 0, 3});
  check({5}, {0}, {3}, {0, 0, 0, 2}, {0, 0, 0, 9});
  check({5, 6}, {0, 1}, {2, 3}, {0, 0, 0, 0}, {0, 0, 0, 0});
  check({0, 6}, {0, 1}, {2, 3}, {0, 0, 2, 0}, {0, 0, 0, 1});
}

TEST(PadKernel, Refuses) {
  const auto refused = [](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 3, 4, 5}, {2, 3, 7, 8}, {0, 2, 3, 1}, {0, 1, 1, 0}, {0, 2, 2, 0}, 7, random);
    spoil(call);
    return call.refused();
  };
  const auto number = [&](int argument, int k, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(argument).list.items[k])->integer = v; });
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::s16; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 5; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 3; }), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).list.count = 3; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(2).list.count = 5; }), 2);
  EXPECT_EQ(number(1, 1, -1), 1);
  EXPECT_EQ(number(2, 2, -3), 2);
  EXPECT_EQ(number(1, 1, int64_t{1} << 32), 1);
  EXPECT_EQ(number(1, 0, 1), 4);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(3).integer = 128; }), 3);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(4)[2] = 8; }), 4);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(4).dim_order = planes; }), 4);
  Random random(8);
  TestCall absent = call_of({4, 5}, {4, 5}, {0, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}, 7, random);
  EXPECT_EQ(absent.refused(), 1);
}

}  // namespace
}  // namespace deuteron
