// SPDX-License-Identifier: Apache-2.0
// Copies between memory orders, against an index computed element by element.
#include "npu/neutron/delegate/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace deuteron {
namespace {

// The place of the element with logical index `i` (row-major) when the dimensions lie in `order`.
size_t place_of(int32_t i, const std::vector<int32_t>& sizes, const std::vector<uint8_t>& order) {
  std::vector<int32_t> at(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) at[d] = i % sizes[d], i /= sizes[d];
  size_t place = 0;
  for (const uint8_t d : order)
    place = place * static_cast<size_t>(sizes[d]) + static_cast<size_t>(at[d]);
  return place;
}

template <class T>
void expect_reordered(ScalarType type, const std::vector<int32_t>& sizes,
                      const std::vector<uint8_t>& from_order,
                      const std::vector<uint8_t>& to_order) {
  int32_t numel = 1;
  for (const int32_t s : sizes) numel *= s;
  const Tensor t{nullptr, sizes.data(), nullptr, numel, static_cast<uint8_t>(sizes.size()),
                 type,    false};
  std::vector<T> from(static_cast<size_t>(numel)), to(from.size()), expected(from.size());
  for (int32_t i = 0; i < numel; ++i) {
    from[place_of(i, sizes, from_order)] = static_cast<T>(7 * i + 3);
    expected[place_of(i, sizes, to_order)] = static_cast<T>(7 * i + 3);
  }
  copy_reordered(t, from_order.data(), to_order.data(), from.data(), to.data());
  EXPECT_EQ(to, expected) << ::testing::PrintToString(sizes) << ::testing::PrintToString(from_order)
                          << ::testing::PrintToString(to_order);
}

TEST(Reorder, EveryRankAndWidth) {
  std::mt19937 random(1);
  for (int k = 0; k < 400; ++k) {
    const size_t rank = random() % 7;
    std::vector<int32_t> sizes;
    for (size_t d = 0; d < rank; ++d)
      sizes.push_back(static_cast<int32_t>(random() % 5 + (random() % 4 != 0)));
    if (std::count(sizes.begin(), sizes.end(), 0) && k % 8) continue;
    std::vector<uint8_t> a(rank), b(rank);
    std::iota(a.begin(), a.end(), uint8_t{0});
    b = a;
    std::shuffle(a.begin(), a.end(), random);
    std::shuffle(b.begin(), b.end(), random);
    expect_reordered<uint8_t>(ScalarType::s8, sizes, a, b);
    expect_reordered<uint16_t>(ScalarType::s16, sizes, a, b);
    expect_reordered<uint32_t>(ScalarType::f32, sizes, a, b);
    expect_reordered<uint64_t>(ScalarType::s64, sizes, a, b);
  }
}

TEST(Reorder, ThePayloadsOrder) {
  const auto order = [](int32_t rank, bool last) {
    std::vector<uint8_t> o(static_cast<size_t>(rank));
    payload_order(rank, last, o.data());
    return o;
  };
  EXPECT_EQ(order(4, true), (std::vector<uint8_t>{0, 2, 3, 1}));
  EXPECT_EQ(order(3, true), (std::vector<uint8_t>{0, 2, 1}));
  EXPECT_EQ(order(5, true), (std::vector<uint8_t>{0, 2, 3, 4, 1}));
  EXPECT_EQ(order(2, true), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(order(1, true), (std::vector<uint8_t>{0}));
  EXPECT_EQ(order(4, false), (std::vector<uint8_t>{0, 1, 2, 3}));
}

TEST(Reorder, DimensionsOfOneDoNotCount) {
  const auto same = [](std::vector<int32_t> sizes, std::vector<uint8_t> a, std::vector<uint8_t> b) {
    const Tensor t{nullptr,        sizes.data(), nullptr, 1, static_cast<uint8_t>(sizes.size()),
                   ScalarType::s8, false};
    return is_same_order(t, a.data(), b.data());
  };
  EXPECT_TRUE(same({2, 1, 5, 7}, {0, 1, 2, 3}, {0, 2, 3, 1})) << "one channel";
  EXPECT_TRUE(same({2, 9, 1, 1}, {0, 1, 2, 3}, {0, 2, 3, 1})) << "one pixel";
  EXPECT_FALSE(same({1, 2, 1, 3}, {0, 1, 2, 3}, {0, 2, 3, 1}));
  EXPECT_FALSE(same({1, 2, 5, 3}, {0, 2, 1, 3}, {0, 2, 3, 1}));
  EXPECT_TRUE(same({}, {}, {}));
}

}  // namespace
}  // namespace deuteron
