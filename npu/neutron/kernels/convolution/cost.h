// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind kind, const ConvCall& a) {
  const int64_t taps = int64_t{a.kernel_h} * a.kernel_w;
  const int64_t channel_steps = cycles::ceil_div(a.c, m.lanes);
  Cost cost;
  if (kind == Kind::kConv2DTransposed) {
    // Each result needs the taps that meet an element of x: one in stride_h * stride_w, taken over
    // all results.
    const int64_t steps = cycles::ceil_div(taps * channel_steps, int64_t{a.stride_h} * a.stride_w);
    cost = cycles::dense(m, int64_t{a.n} * a.out_h, a.out_w, steps, a.out_c);
    cost.macs = int64_t{a.n} * a.h * a.w * taps * a.c * a.out_c;
    return cost;
  }
  if (kind == Kind::kConv2DPointwise) {  // the map is one line
    cost = cycles::dense(m, 1, int64_t{a.n} * a.out_h * a.out_w, channel_steps, a.out_c);
  } else {
    const int64_t steps = kind == Kind::kConv2DStandardV2
                              ? a.kernel_h * cycles::ceil_div(int64_t{a.kernel_w} * a.c, m.lanes)
                              : taps * channel_steps;
    cost = cycles::dense(m, int64_t{a.n} * a.out_h, a.out_w, steps, a.out_c);
  }
  cost.macs = int64_t{a.n} * a.out_h * a.out_w * taps * a.c * a.out_c;
  return cost;
}

constexpr int64_t bytes_of(Kind kind, const ConvCall& a) {
  return int64_t{a.n} * a.h * a.w * a.c + int64_t{a.n} * a.out_h * a.out_w * a.out_c +
         conv_weight_bytes(kind, a) + int64_t{kParamBytes} * a.out_c;
}

}  // namespace deuteron::neutron
