// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/storage_order.h"

#include <algorithm>
#include <numeric>

namespace deuteron::pt2 {

// Whether the axes that matter follow each other in `order` as they do in `sorted`.
static bool agrees(const Axes& order, const Axes& sorted, std::span<const i64> sizes) {
  size_t next = 0;
  for (const i64 axis : order)
    if (sizes[axis] != 1 && (next >= sorted.size() || sorted[next++] != axis)) return false;
  return true;
}

Axes storage_order(std::span<const i64> sizes, std::span<const i64> strides) {
  Axes identity(sizes.size()), sorted, ones;
  std::iota(identity.begin(), identity.end(), 0);
  for (const i64 axis : identity) (sizes[axis] == 1 ? ones : sorted).push_back(axis);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](i64 a, i64 b) { return strides[a] > strides[b]; });
  if (agrees(identity, sorted, sizes)) return identity;
  if (const Axes channels_last{0, 2, 3, 1};
      sizes.size() == 4 && agrees(channels_last, sorted, sizes))
    return channels_last;
  ones.insert(ones.end(), sorted.begin(), sorted.end());
  return ones;
}

bool is_dense(std::span<const i64> sizes, std::span<const i64> strides, const Axes& order) {
  i64 expected = 1;
  for (size_t k = order.size(); k-- > 0;) {
    const i64 axis = order[k];
    if (sizes[axis] != 1 && strides[axis] != expected) return false;
    expected *= sizes[axis];
  }
  return true;
}

bool is_identity(const Axes& order) {
  for (size_t k = 0; k < order.size(); ++k)
    if (order[k] != static_cast<i64>(k)) return false;
  return true;
}

Axes inverse(const Axes& order) {
  Axes result(order.size());
  for (size_t k = 0; k < order.size(); ++k) result[order[k]] = static_cast<i64>(k);
  return result;
}

Shape permuted(const Shape& shape, const Axes& order) {
  Shape result(order.size());
  for (size_t k = 0; k < order.size(); ++k) result[k] = shape[order[k]];
  return result;
}

}  // namespace deuteron::pt2
