// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/neutron/kernels/prelu/call.h"
#include "backends/neutron_model/cycles.h"
#include "backends/neutron_model/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const PreluCall& a) {
  return cycles::element_wise(m, cycles::elements(a.extent),
                              2 * cycles::elements(a.extent) + cycles::strided_bytes(m, a.extent, a.alpha_stride));
}

constexpr int64_t bytes_of(Kind, const PreluCall& a) {
  return 2 * traffic::elements(a.extent) + traffic::distinct(a.extent, a.alpha_stride);
}

}  // namespace deuteron::neutron
