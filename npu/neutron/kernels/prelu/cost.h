// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/prelu/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const PreluCall& a) {
  return cycles::element_wise(
      m, cycles::elements(a.extent),
      2 * cycles::elements(a.extent) + cycles::strided_bytes(m, a.extent, a.alpha_stride));
}

constexpr int64_t bytes_of(Kind, const PreluCall& a) {
  return 2 * traffic::elements(a.extent) + traffic::distinct(a.extent, a.alpha_stride);
}

}  // namespace deuteron::neutron
