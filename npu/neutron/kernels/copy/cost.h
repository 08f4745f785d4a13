// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/copy/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const CopyCall& a) {
  return cycles::element_wise(m, 0,
                              cycles::strided_bytes(m, a.extent, a.x_stride) +
                                  cycles::strided_bytes(m, a.extent, a.y_stride));
}

constexpr int64_t bytes_of(Kind, const CopyCall& a) {
  return traffic::distinct(a.extent, a.x_stride) + traffic::elements(a.extent);
}

}  // namespace deuteron::neutron
