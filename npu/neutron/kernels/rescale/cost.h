// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const RescaleCall& a) {
  return cycles::element_wise(m, a.count, 2 * int64_t{a.count});
}

constexpr int64_t bytes_of(Kind, const RescaleCall& a) { return 2 * int64_t{a.count}; }

}  // namespace deuteron::neutron
