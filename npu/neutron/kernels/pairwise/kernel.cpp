// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/machine/pairs.h"

namespace deuteron::neutron {
namespace {

template <class Of>
void pairs(const PairCall& a, const Memory& memory, Of of) {
  for_each_pair(a.extent, memory.read(a.x), a.x_stride, memory.read(a.other), a.other_stride,
                memory.write(a.y), of);
}

void add(const PairCall& a, const Memory& memory, bool subtract) {
  pairs(a, memory, [&a, subtract](int32_t x, int32_t other) {
    const int32_t u = aligned_term(x, a.x_zero, a.left_shift, a.x_multiplier, a.x_shift);
    const int32_t v =
        aligned_term(other, a.other_zero, a.left_shift, a.other_multiplier, a.other_shift);
    return finish(subtract ? subtract_wrapping(u, v) : add_wrapping(u, v), a.y_multiplier,
                  a.y_shift, a.y_zero, a.y_min, a.y_max);
  });
}

void multiply(const PairCall& a, const Memory& memory) {
  pairs(a, memory, [&a](int32_t x, int32_t other) {
    return finish((x - a.x_zero) * (other - a.other_zero), a.y_multiplier, a.y_shift, a.y_zero,
                  a.y_min, a.y_max);
  });
}

void choose(const PairCall& a, const Memory& memory, bool larger) {
  pairs(a, memory, [&a, larger](int32_t x, int32_t other) {
    return static_cast<int8_t>(clamp_to((x > other) == larger ? x : other, a.y_min, a.y_max));
  });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Add, add(a, memory, false))
DEUTERON_NEUTRON_KERNEL(Sub, add(a, memory, true))
DEUTERON_NEUTRON_KERNEL(Mul, multiply(a, memory))
DEUTERON_NEUTRON_KERNEL(Maximum, choose(a, memory, true))
DEUTERON_NEUTRON_KERNEL(Minimum, choose(a, memory, false))
