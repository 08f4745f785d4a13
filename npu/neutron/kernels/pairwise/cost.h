// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const PairCall& a) {
  return cycles::element_wise(m, cycles::elements(a.extent),
                              cycles::strided_bytes(m, a.extent, a.x_stride) +
                                  cycles::strided_bytes(m, a.extent, a.other_stride) +
                                  cycles::elements(a.extent));
}

constexpr int64_t bytes_of(Kind, const PairCall& a) {
  return traffic::distinct(a.extent, a.x_stride) + traffic::distinct(a.extent, a.other_stride) +
         traffic::elements(a.extent);
}

}  // namespace deuteron::neutron
