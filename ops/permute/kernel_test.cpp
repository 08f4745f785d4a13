// permute_s8 and its binding against the reference: every permutation of every rank, every pair of layouts; and refusals.
#include "ops/permute/kernel.h"

#include <algorithm>

#include "ops/kernels.h"
#include "ops/permute/reference.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
using Perm = std::vector<int64_t>;

TestCall call_of(const Sizes& sizes, const Order& x_order, const Perm& perm, const Order& y_order, Random& random) {
  TestCall call(kTranspose);
  Sizes out;
  for (int64_t p : perm) out.push_back(sizes[static_cast<size_t>(p)]);
  random.fill(call.tensor(ScalarType::s8, sizes, x_order));
  call.integers(perm);
  call.tensor(ScalarType::s8, out, y_order);
  return call;
}

void check(const Sizes& sizes, const Order& x_order, const Perm& perm, const Order& y_order) {
  using testing::PrintToString;
  SCOPED_TRACE(PrintToString(sizes) + PrintToString(x_order) + PrintToString(perm) + PrintToString(y_order));
  Random random(1);
  TestCall call = call_of(sizes, x_order, perm, y_order, random);
  call.run();
  if (testing::Test::HasFatalFailure()) return;
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(2).numel));
  permute_reference(sizes, x_order, perm, y_order, data_of<int8_t>(call.tensor_at(0)), expected.data());
  EXPECT_EQ(contents<int8_t>(call.tensor_at(2)), expected);
}

TEST(PermuteKernel, EqualsTheReferenceOnEveryPermutationAndLayout) {
  for (const Sizes& sizes :
       {Sizes{7}, Sizes{5, 3}, Sizes{4, 5, 3}, Sizes{2, 3, 4, 5}, Sizes{1, 3, 1, 5}, Sizes{3, 1, 1, 1}, Sizes{2, 0, 3}}) {
    Order x_order(sizes.size());
    std::iota(x_order.begin(), x_order.end(), uint8_t{0});
    const Order first = x_order;
    do {
      Perm perm(first.begin(), first.end());
      do {
        Order y_order = first;
        do check(sizes, x_order, perm, y_order);
        while (std::next_permutation(y_order.begin(), y_order.end()));
      } while (std::next_permutation(perm.begin(), perm.end()));
    } while (std::next_permutation(x_order.begin(), x_order.end()));
  }
}

TEST(PermuteKernel, EqualsTheReferenceOnLargePlanes) {
  check({70, 131}, {0, 1}, {1, 0}, {0, 1});
  check({70, 131}, {0, 1}, {0, 1}, {0, 1});
  check({2, 37, 65, 33}, {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 1, 2, 3});
  check({2, 37, 65, 33}, {0, 2, 3, 1}, {0, 2, 3, 1}, {0, 1, 2, 3});  // channels-last read as a dense NHWC: a copy
  check({2, 37, 65, 33}, {0, 1, 2, 3}, {3, 0, 2, 1}, {0, 2, 3, 1});
}

TEST(PermuteKernel, Refuses) {
  const auto refused = [](auto spoil) {
    Random random(7);
    TestCall call = call_of({2, 3, 5}, {0, 1, 2}, {2, 0, 1}, {0, 1, 2}, random);
    spoil(call);
    return call.refused();
  };
  const auto number = [&](int k, int64_t v) {
    return refused([&](TestCall& c) { const_cast<Value*>(c.argument(1).list.items[k])->integer = v; });
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::s16; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 0; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 5; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(1).list.count = 2; }), 1);
  EXPECT_EQ(number(0, -1), 1);
  EXPECT_EQ(number(0, 3), 1);
  EXPECT_EQ(number(0, 1), 2);
  EXPECT_EQ(refused([](TestCall& c) {
              c.sizes_at(0)[0] = c.sizes_at(0)[1] = c.sizes_at(0)[2] = 3;
              c.sizes_at(2)[0] = c.sizes_at(2)[1] = c.sizes_at(2)[2] = 3;
              const_cast<Value*>(c.argument(1).list.items[0])->integer = 0;
            }),
            1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(2)[1] = 3; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).rank = 2; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).type = ScalarType::u8; }), 2);
}

}  // namespace
}  // namespace deuteron
