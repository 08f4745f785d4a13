// SPDX-License-Identifier: Apache-2.0
// The loop of addition in one step for the M-profile Vector Extension.
#pragma once
#include <cstdint>

#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

// y[i] = clamp((x[i] * x_factor + other[i mod period] * other_factor + first) >> -left, -128, 127)
// for all that the call has.
extern "C" void deuteron_linear_add_mve(const LinearAddArgs* a, const int8_t* x,
                                        const int8_t* other, int8_t* y, int32_t left);

}  // namespace deuteron
