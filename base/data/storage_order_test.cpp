// SPDX-License-Identifier: Apache-2.0
#include "base/data/storage_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace deuteron {
namespace {

TEST(StorageOrder, ChannelsLastIsWhatTheNameSays) {
  const Shape sizes = {2, 3, 4, 5};
  const Axes order = {0, 2, 3, 1};
  std::vector<int16_t> user(120), expected;
  std::iota(user.begin(), user.end(), int16_t{0});
  for (int n = 0; n < 2; ++n)
    for (int h = 0; h < 4; ++h)
      for (int w = 0; w < 5; ++w)
        for (int c = 0; c < 3; ++c) expected.push_back(user[((n * 3 + c) * 4 + h) * 5 + w]);
  const std::vector<std::byte> stored =
      to_storage_order(std::as_bytes(std::span(user)), sizes, order, 2);
  EXPECT_EQ(std::memcmp(stored.data(), expected.data(), 240), 0);
  EXPECT_EQ(std::memcmp(to_user_order(stored, sizes, order, 2).data(), user.data(), 240), 0);
}

TEST(StorageOrder, EveryPermutationComesBack) {
  Axes order = {0, 1, 2, 3};
  std::vector<float> user(2 * 3 * 1 * 7);
  std::iota(user.begin(), user.end(), 0.5f);
  do {
    const std::vector<std::byte> stored =
        to_storage_order(std::as_bytes(std::span(user)), {2, 3, 1, 7}, order, 4);
    EXPECT_EQ(std::memcmp(to_user_order(stored, {2, 3, 1, 7}, order, 4).data(), user.data(),
                          stored.size()),
              0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(StorageOrder, NoAxesAndNoElements) {
  const std::byte one[1] = {std::byte{7}};
  EXPECT_EQ(to_storage_order(one, {}, {}, 1)[0], std::byte{7});
  EXPECT_TRUE(to_storage_order({}, {3, 0}, {1, 0}, 4).empty());
}

}  // namespace
}  // namespace deuteron
