// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/batch_matmul/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const MatMulCall& a) {
  Cost cost = cycles::dense(m, a.batch, a.m, cycles::ceil_div(a.k, m.lanes), a.n);
  // An operand whose rows of k are not contiguous is transposed on its way in: an access for each
  // element, once.
  const int64_t access = m.sram_bytes_q8 / 256 > 0 ? m.sram_bytes_q8 / 256 : 1;
  if (a.x_k_stride != 1 && a.k > 1)
    cost.activations += cycles::sram(m, int64_t{a.batch} * a.m * a.k * access);
  if (a.other_k_stride != 1 && a.k > 1)
    cost.activations += cycles::sram(m, int64_t{a.batch} * a.k * a.n * access);
  cost.macs = int64_t{a.batch} * a.m * a.k * a.n;
  return cost;
}

constexpr int64_t bytes_of(Kind, const MatMulCall& a) {
  const int64_t x = int64_t{a.m} * a.k * (a.x_batch_stride == 0 ? 1 : a.batch);
  const int64_t other = int64_t{a.k} * a.n * (a.other_batch_stride == 0 ? 1 : a.batch);
  return x + other + int64_t{a.batch} * a.m * a.n;
}

}  // namespace deuteron::neutron
