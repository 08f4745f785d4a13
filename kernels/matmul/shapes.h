// SPDX-License-Identifier: Apache-2.0
// x [batch,rows,inner] by other [batch,columns,inner]: argument 0, `other` and the last, `out`.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

// batch, rows, columns and inner go to the first four fields of the kernel's struct.
bool read_product(const Call& call, int other, int out, int32_t* fields, Status* why);

}  // namespace deuteron
