// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/pool/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const PoolCall& a) {
  const int64_t new_columns = a.stride_w < a.kernel_w ? a.stride_w : a.kernel_w;
  return cycles::by_channel(m, int64_t{a.n} * a.out_h, a.out_w, int64_t{a.kernel_h} * a.kernel_w, 1,
                            a.c, a.kernel_h * new_columns, a.kernel_h * (a.kernel_w - new_columns));
}

constexpr int64_t bytes_of(Kind, const PoolCall& a) {
  return int64_t{a.n} * a.c * (int64_t{a.h} * a.w + int64_t{a.out_h} * a.out_w);
}

}  // namespace deuteron::neutron
