// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/results.h"
#include "npu/neutron/kernels/convolution_add/call.h"

namespace deuteron::neutron {
namespace {

void convolve_and_add(const ConvAddCall& p, const Memory& memory) {
  const ConvCall& a = p.conv;
  const int8_t* other = memory.read(p.other);
  int8_t* y = memory.write(a.y);
  for_each_result(method_of(p), a, memory, [&](int32_t result, int32_t channel, int8_t value) {
    const int32_t addend = other[int64_t{result} * p.other_pitch + channel];
    const int32_t u = aligned_term(value, p.x_zero, p.left_shift, p.x_multiplier, p.x_shift);
    const int32_t v =
        aligned_term(addend, p.other_zero, p.left_shift, p.other_multiplier, p.other_shift);
    y[int64_t{result} * a.y_pitch + channel] =
        finish(add_wrapping(u, v), p.sum_multiplier, p.sum_shift, p.sum_zero, p.sum_min, p.sum_max);
  });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Conv2DAdd, convolve_and_add(a, memory))
