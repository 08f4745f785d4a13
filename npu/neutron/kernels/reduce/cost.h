// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/reduce/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const ReduceCall& a) {
  int64_t kept = 1;
  for (int i = 0; i < kMaxRank; i++) kept *= (a.axes >> i & 1) != 0 ? 1 : a.extent[i];
  return cycles::element_wise(m, cycles::elements(a.extent), cycles::elements(a.extent) + kept);
}

constexpr int64_t bytes_of(Kind, const ReduceCall& a) {
  int64_t kept = 1;
  for (int i = 0; i < kMaxRank; i++) kept *= (a.axes >> i & 1) != 0 ? 1 : a.extent[i];
  return traffic::elements(a.extent) + kept;
}

}  // namespace deuteron::neutron
