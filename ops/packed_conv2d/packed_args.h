// SPDX-License-Identifier: Apache-2.0
// What a lowered call of deuteron::packed_conv2d says, as its kernel has it: for what makes another call of it.
#pragma once
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "ops/packed_conv2d/kernel.h"

namespace deuteron {

// Where its arguments stand.
enum class PackedArg : u8 { x, packed, window, stride, padding, dilation, x_zero, y_zero, scratch, out };
using CallArgs = std::vector<KernelArg>;
const KernelArg& arg_of(const CallArgs& args, PackedArg);

PackedConv2dArgs packed_args_of(const CallArgs&);  // without x_zero, y_zero and has_shifts
Packing packing_of(std::string_view overload);     // of the call

}  // namespace deuteron
