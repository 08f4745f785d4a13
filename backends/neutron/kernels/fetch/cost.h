// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/neutron/kernels/fetch/call.h"
#include "backends/neutron_model/cycles.h"
#include "backends/neutron_model/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const MemCpyCall& a) {
  Cost cost;
  cost.setup = m.fetch_setup_cycles;
  cost.fetch = cycles::ceil_div(int64_t{a.bytes} * 256, m.fetch_bytes_q8);
  return cost;
}

constexpr int64_t bytes_of(Kind, const MemCpyCall& a) { return 2 * int64_t{a.bytes}; }

}  // namespace deuteron::neutron
