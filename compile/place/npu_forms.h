// SPDX-License-Identifier: Apache-2.0
// Functions as the NPU computes them, for float models (npu_forms.cpp) and for quantized ones
// (npu_forms_quantized.cpp).
#pragma once
#include <optional>
#include <span>

#include "ir/rewrite/patch.h"
#include "ops/pointwise/point_op.h"
#include "targets/target.h"

namespace deuteron {

// The program of a node in steps that Neutron IR has; nothing where there is none.
std::optional<PointProgram> in_builtins(const Op& op);

// A step as a float operator: with a number, a function of one element.
Op operator_of(const PointStep& s);
// Reads two values, none of which is a number.
bool takes_two(const PointStep& s);

// Whether the NPU takes every step, on values like x.
bool are_taken(const PointProgram& program, const Type& x, const NpuLimits& limits);

// Rules of quantized models: what stands between dequantize and quantize becomes the same in parts,
// with parameters for the values between.
std::span<const Rule> quantized_npu_rules();

}  // namespace deuteron
