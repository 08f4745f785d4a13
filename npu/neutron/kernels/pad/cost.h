// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/pad/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const PadCall& a) {
  int64_t results = 1;
  for (int i = 0; i < kMaxRank; i++) results *= int64_t{a.before[i]} + a.extent[i] + a.after[i];
  return cycles::element_wise(m, 0, cycles::elements(a.extent) + results);
}

constexpr int64_t bytes_of(Kind, const PadCall& a) {
  int64_t results = 1;
  for (int i = 0; i < kMaxRank; i++) results *= int64_t{a.before[i]} + a.extent[i] + a.after[i];
  return traffic::elements(a.extent) + results;
}

}  // namespace deuteron::neutron
