// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/slices.h"

namespace deuteron {

bool read_slices(const Call& call, int out, int32_t* fields, Status* why) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  const int64_t inner = call.integer(1);
  if (inner < 1 || inner > y.numel || y.numel % static_cast<int32_t>(inner) != 0)
    return refuse(why, 1, "must divide the elements of the result");
  if (x.numel == 0 || x.numel % y.numel != 0)
    return refuse(why, 0, "must have as many elements for each of the result");
  fields[0] = y.numel / static_cast<int32_t>(inner);
  fields[1] = x.numel / y.numel;
  fields[2] = static_cast<int32_t>(inner);
  return true;
}

}  // namespace deuteron
