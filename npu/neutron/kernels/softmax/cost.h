// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const SoftmaxCall& a) {
  const int64_t count = int64_t{a.rows} * a.columns;
  Cost cost = cycles::element_wise(m, 0, 4 * count);  // three passes read, one writes
  cost.compute = cycles::ceil_div(count * m.softmax_cycles_q8, 256);
  return cost;
}

constexpr int64_t bytes_of(Kind, const SoftmaxCall& a) { return 2 * int64_t{a.rows} * a.columns; }

}  // namespace deuteron::neutron
