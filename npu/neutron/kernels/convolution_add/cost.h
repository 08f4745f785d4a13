// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/kernels/convolution_add/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

// The convolution, then the work of an Add; what lies between never reaches SRAM, and there is one
// set-up.
constexpr Cost cost_of(const Machine& m, Kind, const ConvAddCall& a) {
  const int64_t results = int64_t{a.conv.n} * a.conv.out_h * a.conv.out_w * a.conv.out_c;
  Cost cost = cost_of(m, method_of(a), a.conv);
  cost.compute += cycles::vector(m, results);
  cost.activations += cycles::sram(m, results);
  return cost;
}

constexpr int64_t bytes_of(Kind, const ConvAddCall& a) {
  return bytes_of(method_of(a), a.conv) +
         int64_t{a.conv.n} * a.conv.out_h * a.conv.out_w * a.conv.out_c;
}

}  // namespace deuteron::neutron
