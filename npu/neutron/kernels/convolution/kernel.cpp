// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/kernel.h"

#include "npu/neutron/kernels/convolution/results.h"

namespace deuteron::neutron {

void convolve(Kind kind, const ConvCall& a, const Memory& memory) {
  int8_t* y = memory.write(a.y);
  for_each_result(kind, a, memory, [&a, y](int32_t result, int32_t channel, int8_t value) {
    y[int64_t{result} * a.y_pitch + channel] = value;
  });
}

}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Conv2DStandardV1, convolve(kind, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DStandardV2, convolve(kind, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DPointwise, convolve(kind, a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DTransposed, convolve(kind, a, memory))
