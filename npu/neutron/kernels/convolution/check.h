// SPDX-License-Identifier: Apache-2.0
// Of a convolution, alone or with a pool behind it.
#pragma once
#include "npu/neutron/kernels/convolution/call.h"
#include "npu/neutron/machine/call_check.h"

namespace deuteron::neutron {

// `y_h`, `y_w`: what is written of the results, at the pitch of the call.
void check_convolution(CallCheck& call, Kind kind, const ConvCall& a, int32_t y_h, int32_t y_w);

}  // namespace deuteron::neutron
