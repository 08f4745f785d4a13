// SPDX-License-Identifier: Apache-2.0
// Walking through several arrays whose elements of one index lie in any order.
// Needs nothing of the runtime: C programs call kernels that use it.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int kMostDimensions = 16;  // the runtime's kMaxRank

// Calls visit(offsets) for every element of a shape in logical order, with one element offset for
// each of N stride lists. strides[k] may be negative or 0; first[k] is the offset of the first
// element.
template <int N, class Visit>
void walk(int rank, const int32_t* sizes, const int32_t* const* strides, Visit visit) {
  int32_t index[kMostDimensions] = {};
  int32_t offset[N] = {};
  for (int i = 0; i < rank; ++i)
    if (sizes[i] == 0) return;
  for (;;) {
    visit(offset);
    int i = rank - 1;
    for (; i >= 0; --i) {
      if (++index[i] < sizes[i]) {
        for (int k = 0; k < N; ++k) offset[k] += strides[k][i];
        break;
      }
      for (int k = 0; k < N; ++k) offset[k] -= strides[k][i] * (sizes[i] - 1);
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace deuteron
