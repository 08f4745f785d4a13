// SPDX-License-Identifier: Apache-2.0
// The loops of packed_scalar.h for cores with Thumb-1, which have no instruction that subtracts a
// product: what differs for their callers.
#pragma once
#include "kernels/dense/packed_scalar.h"

namespace deuteron {

// With their sign turned: so the sum of two products is never 2^15.
inline int32_t negative_pair_of(int32_t first, int32_t second) { return -pair_of(first, second); }

}  // namespace deuteron
