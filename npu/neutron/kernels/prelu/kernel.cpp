// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/prelu/call.h"
#include "npu/neutron/machine/pairs.h"

namespace deuteron::neutron {
namespace {

void prelu(const PreluCall& a, const Memory& memory) {
  const Strides strides = dense_strides(a.extent);
  for_each_pair(a.extent, memory.read(a.x), strides.of, memory.read(a.alpha), a.alpha_stride,
                memory.write(a.y), [&a](int32_t x, int32_t alpha) {
                  const int32_t v = x - a.x_zero;
                  return v >= 0 ? finish(v, a.positive_multiplier, a.positive_shift, a.y_zero,
                                         a.y_min, a.y_max)
                                : finish(v * (alpha - a.alpha_zero), a.negative_multiplier,
                                         a.negative_shift, a.y_zero, a.y_min, a.y_max);
                });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Prelu, prelu(a, memory))
