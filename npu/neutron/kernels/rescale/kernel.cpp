// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/rescale/call.h"

namespace deuteron::neutron {
namespace {

void rescale(const RescaleCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  for (int32_t i = 0; i < a.count; ++i)
    y[i] = finish(x[i] - a.x_zero, a.multiplier, a.shift, a.y_zero, a.y_min, a.y_max);
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(GlobalBiasScale, rescale(a, memory))
