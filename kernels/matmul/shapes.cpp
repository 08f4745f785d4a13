// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/shapes.h"

namespace deuteron {

bool read_product(const Call& call, int other, int out, int32_t* fields, Status* why) {
  const int32_t *x = call.tensor(0).sizes, *by = call.tensor(other).sizes,
                *y = call.tensor(out).sizes;
  if (by[0] != x[0] || by[2] != x[2])
    return refuse(why, other, "must have the batch and the inner extent of the first");
  if (y[0] != x[0] || y[1] != x[1] || y[2] != by[1])
    return refuse(why, out, "must have the rows of both operands");
  fields[0] = x[0], fields[1] = x[1], fields[2] = by[1], fields[3] = x[2];
  return true;
}

}  // namespace deuteron
