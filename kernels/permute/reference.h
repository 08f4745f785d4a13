// SPDX-License-Identifier: Apache-2.0
// The permutation over logical indices. Host only, for tests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deuteron {

// `sizes` are those of x; orders are outermost first in memory.
inline void permute_reference(const std::vector<int32_t>& sizes,
                              const std::vector<uint8_t>& x_order, const std::vector<int64_t>& perm,
                              const std::vector<uint8_t>& y_order, const int8_t* x, int8_t* y) {
  const size_t rank = sizes.size();
  int64_t count = 1;
  for (int32_t s : sizes) count *= s;
  std::vector<int64_t> index(rank);  // of x
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t k = rank; k-- > 0; rest /= sizes[k]) index[k] = rest % sizes[k];
    int64_t from = 0, to = 0;
    for (uint8_t dim : x_order) from = from * sizes[dim] + index[dim];
    for (uint8_t dim : y_order)
      to = to * sizes[static_cast<size_t>(perm[dim])] + index[static_cast<size_t>(perm[dim])];
    y[to] = x[from];
  }
}

}  // namespace deuteron
