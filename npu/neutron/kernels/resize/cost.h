// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/resize/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind kind, const ResizeCall& a) {
  const int64_t pixels = int64_t{a.n} * a.out_h * a.out_w;
  const int64_t taps = kind == Kind::kResizeBilinear ? 4 : 1;
  return cycles::element_wise(m, kind == Kind::kResizeBilinear ? taps * pixels * a.c : 0,
                              cycles::accesses(m, pixels * (taps + 1), a.c));
}

constexpr int64_t bytes_of(Kind, const ResizeCall& a) {
  return int64_t{a.n} * a.c * (int64_t{a.h} * a.w + int64_t{a.out_h} * a.out_w);
}

}  // namespace deuteron::neutron
