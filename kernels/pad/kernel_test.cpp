// SPDX-License-Identifier: Apache-2.0
// pad_s8 and its binding against the reference: every rank, both layouts, the ambiguous ones; and
// what prepare() refuses.
#include "kernels/pad/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/pad/reference.h"

namespace deuteron {
namespace pad_test {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
using Pads = std::vector<int64_t>;

TestCall call_of(const Sizes& in, const Sizes& out, const Order& order, const Pads& before,
                 const Pads& after, int64_t value, Random& random) {
  TestCall call(kPad);
  random.fill(call.tensor(ScalarType::s8, in, order));
  call.integers(before);
  call.integers(after);
  call.integer(value);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

// Logical sizes, the dimensions outermost first in memory, and pads in the order of the lists,
// which is given by `entry`: the position in the lists of each dimension.
void check(KernelCases& cases, const Sizes& in, const Order& order,
           const std::vector<size_t>& entry, const Pads& before, const Pads& after) {
  using testing::PrintToString;
  const std::string name =
      PrintToString(in) + PrintToString(order) + PrintToString(before) + PrintToString(after);
  Sizes out = in;
  for (size_t k = 0; k < in.size(); ++k)
    out[k] += static_cast<int32_t>(before[entry[k]] + after[entry[k]]);
  Random random(1);
  TestCall call = call_of(in, out, order, before, after, 84, random);
  cases.run(name, call);
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
  cases.expect(4, expected);
}

TEST(PadKernel, EqualsTheReference) {
  KernelCases cases;
  const Order dense{0, 1, 2, 3}, last{0, 2, 3, 1}, one_channel{0, 2, 1, 3};
  check(cases, {2, 3, 4, 5}, dense, {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 4, 1, 0});
  check(cases, {2, 3, 4, 5}, last, {0, 3, 1, 2}, {1, 0, 2, 3}, {0, 4, 1, 0});
  check(cases, {2, 3, 4, 5}, last, {0, 3, 1, 2}, {0, 1, 1, 0}, {0, 1, 1, 0});
  check(cases, {1, 1, 49, 10}, one_channel, {0, 3, 1, 2}, {0, 4, 1, 0},
        {0, 5, 1, 0});  // an instruction of a stock file
  check(cases, {2, 1, 4, 5}, dense, {0, 3, 1, 2}, {0, 4, 1, 0},
        {0, 5, 1, 0});  // one channel: the lists are N,H,W,C all the same
  check(cases, {2, 7, 1, 1}, dense, {0, 3, 1, 2}, {0, 0, 0, 2},
        {1, 0, 0, 5});  // one pixel: likewise
  check(cases, {2, 7, 1, 1}, dense, {0, 3, 1, 2}, {0, 2, 1, 0}, {0, 1, 1, 0});
  check(cases, {2, 7, 1, 2}, dense, {0, 1, 2, 3}, {0, 2, 1, 0},
        {0, 1, 1, 0});  // two pixels: no more
  check(cases, {2, 7, 2, 1}, dense, {0, 1, 2, 3}, {0, 2, 1, 0}, {0, 1, 1, 0});
  check(cases, {2, 2, 4, 5}, dense, {0, 1, 2, 3}, {0, 2, 1, 0}, {0, 1, 1, 0});
  check(cases, {3, 4, 5}, {0, 1, 2}, {1, 2, 3}, {0, 1, 0, 2}, {0, 2, 3, 0});
  check(cases, {4, 5}, {0, 1}, {2, 3}, {0, 0, 1, 2}, {0, 0, 0, 3});
  check(cases, {5}, {0}, {3}, {0, 0, 0, 2}, {0, 0, 0, 9});
  check(cases, {5, 6}, {0, 1}, {2, 3}, {0, 0, 0, 0}, {0, 0, 0, 0});
  check(cases, {0, 6}, {0, 1}, {2, 3}, {0, 0, 2, 0}, {0, 0, 0, 1});
}

TEST(PadKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 3, 4, 5}, {2, 3, 7, 8}, {0, 2, 3, 1}, {0, 1, 1, 0}, {0, 2, 2, 0}, 7, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8 and have one to four dimensions", type(0, ScalarType::s16)},
                      {0, "must be int8 and have one to four dimensions", rank(0, 5)},
                      {4, "must be int8 and have the rank of the input", rank(0, 3)},
                      {1, "must have four numbers", items(1, 3)},
                      {2, "must have four numbers", items(2, 5)},
                      {1, "must not be negative", item(1, 1, -1)},
                      {2, "must not be negative", item(2, 2, -3)},
                      {1, "must not be negative", item(1, 1, int64_t{1} << 32)},
                      {4, "must have the extents of the input and its padding", item(1, 0, 1)},
                      {3, "must be -128..127", number(3, 128)},
                      {4, "must have the extents of the input and its padding", size(4, 2, 8)},
                      {4, "must be stored in the order of the input", order(4, {0, 1, 2, 3})},
                  });
  Random random(8);
  TestCall absent = call_of({4, 5}, {4, 5}, {0, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}, 7, random);
  EXPECT_EQ(absent.refused(), 1);
}

}  // namespace pad_test
}  // namespace deuteron
