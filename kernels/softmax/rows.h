// SPDX-License-Identifier: Apache-2.0
// Rows of the last dimension, along which softmax runs.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

// Rows of `x`, argument 0, of 1..`most` elements.
bool read_rows(const Tensor& x, int32_t most, const char* words, int32_t* rows, int32_t* columns,
               Status* why);

}  // namespace deuteron
