// SPDX-License-Identifier: Apache-2.0
// The walk of kernels that take two operands, element by element.
#pragma once
#include "npu/neutron/machine/memory.h"

namespace deuteron::neutron {

// Calls y[i] = of(x[i], other[i]) along both tensors' strides; y follows without gaps.
template <class Of>
void for_each_pair(const int32_t (&extent)[kMaxRank], const int8_t* x, const int32_t* x_stride,
                   const int8_t* other, const int32_t* other_stride, int8_t* y, Of of) {
  const Walk walk = walk_of(extent, x_stride, other_stride, nullptr);
  const int last = walk.rank - 1;
  const int32_t count = walk.extent[last], x_step = walk.stride[0][last],
                other_step = walk.stride[1][last];
  for_each_row(walk, [&](int32_t x_at, int32_t other_at, int32_t) {
    for (int32_t i = 0; i < count; ++i)
      *y++ = of(x[x_at + int64_t{i} * x_step], other[other_at + int64_t{i} * other_step]);
  });
}

}  // namespace deuteron::neutron
