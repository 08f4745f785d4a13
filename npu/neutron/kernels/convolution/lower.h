// SPDX-License-Identifier: Apache-2.0
// A convolution's call, filled in: for the operations that compute one.
#pragma once
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/kernels/convolution/call.h"

namespace deuteron::neutron {

// The window, results and bounds of `s`.
Fault fill_convolution(Lowering& l, const Operation& s, const Window& w, const char* rule,
                       ConvCall& c);

// The kernel with the fewest predicted cycles among those that can do it.
Kind kind_of_convolution(const Machine& machine, const Window& w, const ConvCall& c);

// The operands, then the constants as a kernel of kind `kind` has them. `weights` [oc,kh,kw,c]
Fault locate_operands(Lowering& l, const Operation& s, Kind kind, std::span<const int8_t> weights,
                      const char* rule, ConvCall& c);

// All of it.
Fault lower_convolution(Lowering& l, const Operation& s, const Window& w,
                        std::span<const int8_t> weights);

}  // namespace deuteron::neutron
