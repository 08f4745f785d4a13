// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/call.h"
#include "npu/neutron/machine/memory.h"

namespace deuteron::neutron {

void convolve(Kind kind, const ConvCall& a, const Memory& memory);

}  // namespace deuteron::neutron
