// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y[b,m,n] = clamp(y_zero + rq(sum over k of (x[b,m,k] - x_zero) * (other[b,k,n] - other_zero))); y
// [batch,m,n] without gaps. Any operand may lie transposed or repeat over the batch: its strides
// say how. Limit: k <= kMostInner
struct MatMulCall {
  Operand x, other, y;
  int32_t batch, m, k, n;
  int32_t x_batch_stride, x_m_stride, x_k_stride;
  int32_t other_batch_stride, other_k_stride, other_n_stride;
  int32_t x_zero, other_zero, y_zero, multiplier, shift, y_min, y_max;
};

}  // namespace deuteron::neutron
