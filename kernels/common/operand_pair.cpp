// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operand_pair.h"

namespace deuteron {

Status meet(const Call& call, int self, int other, int out, OperandPair* pair) {
  const Tensor &a = call.tensor(self), &b = call.tensor(other), &y = call.tensor(out);
  const bool equal = same_sizes(a, b);
  const bool channels = a.rank == 4 && b.rank == 4 && a.sizes[1] == b.sizes[1];
  pair->swapped = !equal && channels && a.numel == a.sizes[1];
  const Tensor &longer = pair->swapped ? b : a, &shorter = pair->swapped ? a : b;
  if (!equal && !(channels && shorter.numel == shorter.sizes[1] && is_channels_last(longer)))
    return bad_argument(other,
                        "must have the sizes of the first, or one value for each channel of an "
                        "image stored channels-last");
  if (equal && !same_layout(a, b))
    return bad_argument(other, "must be stored in the order of the first");
  if (!same_layout(longer, y))
    return bad_argument(out, "must have the sizes and the order of the longer operand");
  pair->count = longer.numel;
  pair->period = shorter.numel;
  return Status{};
}

}  // namespace deuteron
