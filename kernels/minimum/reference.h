// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum over logical indices, with broadcasting by the textbook. Host only, for
// tests.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deuteron {

struct LayoutReference {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;  // outermost first in memory
  // Where the element of the last dimensions of `index` lies; dimensions of one element take any
  // index.
  int64_t offset(const std::vector<int32_t>& index) const {
    const size_t absent = index.size() - sizes.size();
    int64_t at = 0;
    for (uint8_t dim : order) at = at * sizes[dim] + (sizes[dim] == 1 ? 0 : index[absent + dim]);
    return at;
  }
};

template <class T>
void extremum_reference(bool most, const LayoutReference& x_layout, const T* x,
                        const LayoutReference& other_layout, const T* other,
                        const LayoutReference& y_layout, T* y) {
  int64_t count = 1;
  for (int32_t s : y_layout.sizes) count *= s;
  std::vector<int32_t> index(y_layout.sizes.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t k = index.size(); k-- > 0; rest /= y_layout.sizes[k])
      index[k] = static_cast<int32_t>(rest % y_layout.sizes[k]);
    const T a = x[x_layout.offset(index)], b = other[other_layout.offset(index)];
    y[y_layout.offset(index)] = most ? std::max(a, b) : std::min(a, b);
  }
}

}  // namespace deuteron
