// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const FullyConnectedCall& a) {
  Cost cost = cycles::dense(m, 1, a.rows, cycles::ceil_div(a.in, m.lanes), a.out);
  cost.macs = int64_t{a.rows} * a.in * a.out;
  return cost;
}

constexpr int64_t bytes_of(Kind, const FullyConnectedCall& a) {
  return int64_t{a.rows} * (int64_t{a.in} + a.out) + fully_connected_weight_bytes(a) +
         int64_t{kParamBytes} * a.out;
}

}  // namespace deuteron::neutron
