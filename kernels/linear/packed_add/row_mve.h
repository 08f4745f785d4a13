// SPDX-License-Identifier: Apache-2.0
// The inner loop of addition in one step for the M-profile Vector Extension.
#pragma once
#include <cstdint>

#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

// y[i] = clamp((x[i] * x_factor + other[i] * other_factor + first) >> -left, -128, 127) for
// `elements` of them, at least one.
extern "C" void deuteron_linear_add_row_mve(const LinearAddArgs* a, const int8_t* x,
                                            const int8_t* other, int8_t* y, int32_t elements,
                                            int32_t left);

}  // namespace deuteron
