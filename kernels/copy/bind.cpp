// SPDX-License-Identifier: Apache-2.0
// deuteron::copy: a tensor as it lies, somewhere else. Its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/copy/kernel.h"

namespace deuteron {

static Status prepare_copy_call(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  if (y.type != x.type) return bad_argument(1, "must have the input's dtype");
  if (!same_layout(x, y)) return bad_argument(1, "must have the sizes and the order of the input");
  return keep<copy_bytes>(call, prepared, x.numel * static_cast<int32_t>(element_bytes(x.type)),
                          static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

const Kernel kCopy = {"deuteron::copy.out", "TO", prepare_copy_call};

}  // namespace deuteron
