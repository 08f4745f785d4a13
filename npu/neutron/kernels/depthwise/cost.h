// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/depthwise/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind kind, const DepthwiseCall& a) {
  const int64_t channels = int64_t{a.c} * a.multiplier, taps = int64_t{a.kernel_h} * a.kernel_w;
  const bool line = kind == Kind::kConv2DDepthwiseDense;
  const int64_t lines = line ? 1 : int64_t{a.n} * a.out_h,
                positions = line ? int64_t{a.n} * a.out_h * a.out_w : a.out_w;
  // Sliding along a row reads the new columns only, and the first window of the row; the map as a
  // line reads every window.
  const int64_t new_columns = a.stride_w < a.kernel_w ? a.stride_w : a.kernel_w;
  const int64_t bytes = line ? taps : a.kernel_h * new_columns;
  Cost cost = cycles::by_channel(m, lines, positions, taps, m.depthwise_lanes, channels, bytes,
                                 line ? 0 : a.kernel_h * (a.kernel_w - new_columns));
  const int64_t groups = cycles::ceil_div(channels, m.units);
  cost.weights = cycles::sram(m, lines * cycles::ceil_div(positions, m.accumulators) * groups *
                                     m.units * (taps + kParamBytes));
  cost.macs = int64_t{a.n} * a.out_h * a.out_w * taps * channels;
  return cost;
}

constexpr int64_t bytes_of(Kind, const DepthwiseCall& a) {
  const int64_t channels = int64_t{a.c} * a.multiplier;
  return int64_t{a.n} * a.h * a.w * a.c + int64_t{a.n} * a.out_h * a.out_w * channels +
         depthwise_weight_bytes(a) + kParamBytes * channels;
}

}  // namespace deuteron::neutron
