// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/neutron/kernels/convolution/call.h"
#include "backends/neutron_model/memory.h"

namespace deuteron::neutron {

void convolve(Kind kind, const ConvCall& a, const Memory& memory);

}  // namespace deuteron::neutron
