// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const MemCpyCall& a) {
  Cost cost;
  cost.setup = m.fetch_setup_cycles;
  cost.fetch = cycles::ceil_div(int64_t{a.bytes} * 256, m.fetch_bytes_q8);
  return cost;
}

constexpr int64_t bytes_of(Kind, const MemCpyCall& a) { return 2 * int64_t{a.bytes}; }

}  // namespace deuteron::neutron
