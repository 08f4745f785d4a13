// SPDX-License-Identifier: Apache-2.0
// From int8 steps to int16 ones and back in one kernel call: kernels/requantize/kernel.h.
#pragma once
#include "ops/op.h"

namespace deuteron {

struct RequantizeNumbers {
  i32 factor, shift;
};
// Nothing unless one is int8 and the other int16 with zero point 0, each with one scale, and the
// kernel has the ratio of the scales.
std::optional<RequantizeNumbers> requantize_numbers(const Type& x, const Type& y);

Result<Lowered> lower_requantize(const Type& x, const Type& y);

}  // namespace deuteron
