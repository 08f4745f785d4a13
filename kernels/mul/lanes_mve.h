// SPDX-License-Identifier: Apache-2.0
// The inner loops of multiplication for the M-profile Vector Extension, eight elements at a time.
// Each function reads and writes what its elements are, and nothing else.
#pragma once
#include <cstdint>

#include "kernels/mul/kernel.h"

namespace deuteron {

// y[i] of x[i] and other[i], `elements` of them, at least one.
extern "C" void deuteron_mul_row_mve(const MulArgs* a, const int8_t* x, const int8_t* other,
                                     int8_t* y, int32_t elements);
// The same eight of `other` for each of `rows`, at least one, which are a.period apart.
extern "C" void deuteron_mul_rows_mve(const MulArgs* a, const int8_t* x, const int8_t* other,
                                      int8_t* y, int32_t rows);

}  // namespace deuteron
