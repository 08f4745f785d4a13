// SPDX-License-Identifier: Apache-2.0
#include "base/data/storage_order.h"

#include <cstring>

#include "base/check.h"

namespace deuteron {

// Calls move(byte offset in storage, byte offset in the user's tensor) for each element, in storage
// order.
template <class F>
static void for_each_element(const Shape& sizes, const Axes& order, i64 width, F move) {
  const size_t rank = sizes.size();
  std::vector<i64> user_step(rank), step(rank), extent(rank), index(rank);
  i64 next = width;
  for (size_t k = rank; k-- > 0;) user_step[k] = next, next *= sizes[k];
  for (size_t k = 0; k < rank; ++k) step[k] = user_step[order[k]], extent[k] = sizes[order[k]];
  i64 user = 0;
  for (i64 at = 0, end = numel(sizes) * width; at < end; at += width) {
    move(at, user);
    for (size_t k = rank; k-- > 0;) {
      user += step[k];
      if (++index[k] < extent[k]) break;
      user -= step[k] * extent[k];
      index[k] = 0;
    }
  }
}

std::vector<std::byte> to_storage_order(std::span<const std::byte> user, const Shape& sizes,
                                        const Axes& order, i64 width) {
  DEUTERON_CHECK(static_cast<i64>(user.size()) == numel(sizes) * width);
  std::vector<std::byte> stored(user.size());
  for_each_element(sizes, order, width, [&](i64 at, i64 from) {
    std::memcpy(stored.data() + at, user.data() + from, static_cast<size_t>(width));
  });
  return stored;
}

std::vector<std::byte> to_user_order(std::span<const std::byte> stored, const Shape& sizes,
                                     const Axes& order, i64 width) {
  DEUTERON_CHECK(static_cast<i64>(stored.size()) == numel(sizes) * width);
  std::vector<std::byte> user(stored.size());
  for_each_element(sizes, order, width, [&](i64 at, i64 to) {
    std::memcpy(user.data() + to, stored.data() + at, static_cast<size_t>(width));
  });
  return user;
}

}  // namespace deuteron
