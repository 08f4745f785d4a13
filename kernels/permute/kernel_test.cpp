// SPDX-License-Identifier: Apache-2.0
// permute_s8 and its binding against the reference: every permutation of every rank, every pair of
// layouts; and refusals.
#include "kernels/permute/kernel.h"

#include <algorithm>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/permute/reference.h"

namespace deuteron {
namespace permute_test {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;
using Perm = std::vector<int64_t>;

TestCall call_of(const Sizes& sizes, const Order& x_order, const Perm& perm, const Order& y_order,
                 Random& random) {
  TestCall call(kTranspose);
  Sizes out;
  for (int64_t p : perm) out.push_back(sizes[static_cast<size_t>(p)]);
  random.fill(call.tensor(ScalarType::s8, sizes, x_order));
  call.integers(perm);
  call.tensor(ScalarType::s8, out, y_order);
  return call;
}

void check(KernelCases& cases, const Sizes& sizes, const Order& x_order, const Perm& perm,
           const Order& y_order) {
  using testing::PrintToString;
  const std::string name =
      PrintToString(sizes) + PrintToString(x_order) + PrintToString(perm) + PrintToString(y_order);
  Random random(1);
  TestCall call = call_of(sizes, x_order, perm, y_order, random);
  cases.run(name, call);
  std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(2).numel));
  permute_reference(sizes, x_order, perm, y_order, data_of<int8_t>(call.tensor_at(0)),
                    expected.data());
  cases.expect(2, expected);
}

TEST(PermuteKernel, EqualsTheReferenceOnEveryPermutationAndLayout) {
  KernelCases cases;
  for (const Sizes& sizes : {Sizes{7}, Sizes{5, 3}, Sizes{4, 5, 3}, Sizes{2, 3, 4, 5},
                             Sizes{1, 3, 1, 5}, Sizes{3, 1, 1, 1}, Sizes{2, 0, 3}}) {
    Order x_order(sizes.size());
    std::iota(x_order.begin(), x_order.end(), uint8_t{0});
    const Order first = x_order;
    do {
      Perm perm(first.begin(), first.end());
      do {
        Order y_order = first;
        do check(cases, sizes, x_order, perm, y_order);
        while (std::next_permutation(y_order.begin(), y_order.end()));
      } while (std::next_permutation(perm.begin(), perm.end()));
    } while (std::next_permutation(x_order.begin(), x_order.end()));
  }
}

TEST(PermuteKernel, EqualsTheReferenceOnLargePlanes) {
  KernelCases cases;
  check(cases, {70, 131}, {0, 1}, {1, 0}, {0, 1});
  check(cases, {70, 131}, {0, 1}, {0, 1}, {0, 1});
  check(cases, {2, 37, 65, 33}, {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 1, 2, 3});
  check(cases, {2, 37, 65, 33}, {0, 2, 3, 1}, {0, 2, 3, 1},
        {0, 1, 2, 3});  // channels-last read as a dense NHWC: a copy
  check(cases, {2, 37, 65, 33}, {0, 1, 2, 3}, {3, 0, 2, 1}, {0, 2, 3, 1});
}

TEST(PermuteKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 3, 5}, {0, 1, 2}, {2, 0, 1}, {0, 1, 2}, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int8 and have one to four dimensions", type(0, ScalarType::s16)},
                      {0, "must be int8 and have one to four dimensions", rank(0, 0)},
                      {0, "must be int8 and have one to four dimensions", rank(0, 5)},
                      {1, "must have an entry for each dimension", items(1, 2)},
                      {1, "has an entry that is no dimension", item(1, 0, -1)},
                      {1, "has an entry that is no dimension", item(1, 0, 3)},
                      {2, "must have the permuted extents of the input", item(1, 0, 1)},
                      {1, "has a dimension twice",
                       [](TestCall& c) {
                         for (const int t : {0, 2}) std::fill_n(c.sizes_at(t), 3, 3);
                         item(1, 0, 0)(c);
                       }},
                      {2, "must have the permuted extents of the input", size(2, 1, 3)},
                      {2, "must be int8 and have the rank of the input", rank(2, 2)},
                      {2, "must be int8 and have the rank of the input", type(2, ScalarType::u8)},
                  });
}

}  // namespace permute_test
}  // namespace deuteron
