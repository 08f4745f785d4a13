// SPDX-License-Identifier: Apache-2.0
// Calls of portable kernels that do no arithmetic (ops/kernel_call/number_calls.h) between
// dequantize and quantize, on int8.
#pragma once
#include "ir/rewrite/patch.h"

namespace deuteron {

std::span<const Rule> number_call_rules();

// From the least to the largest number that there is a step of.
Bounds range_of(const Quant& q);
// The parameters that hold the ranges of all of them.
Quant spanning(const std::vector<const Quant*>& all);
// A value with other parameters: by a clamp without bounds.
ValueId with_parameters(PatchBuilder& b, ValueId v, const Quant& quant);
// A float constant in steps of q.
ValueId quantize_constant(PatchBuilder& b, const GraphValue& value, const Quant& q);

}  // namespace deuteron
