// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/kernels/convolution_pool/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

// The convolution's windows; of its results only the pools leave the machine.
constexpr Cost cost_of(const Machine& m, Kind kind, const ConvPoolCall& a) {
  ConvCall used = a.conv;
  used.out_h -= used.out_h % a.pool_h, used.out_w -= used.out_w % a.pool_w;
  Cost cost = cost_of(m, convolution_of(kind), used);
  const int64_t results = int64_t{used.n} * used.out_h * used.out_w * used.out_c;
  cost.activations -= cycles::sram(m, results - results / (int64_t{a.pool_h} * a.pool_w));
  return cost;
}

constexpr int64_t bytes_of(Kind kind, const ConvPoolCall& a) {
  ConvCall stored = a.conv;
  stored.out_h /= a.pool_h, stored.out_w /= a.pool_w;
  return bytes_of(convolution_of(kind), stored);
}

}  // namespace deuteron::neutron
