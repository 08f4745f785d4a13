// SPDX-License-Identifier: Apache-2.0
// How the two operands of add and mul meet: element for element, or one of them is [1,C,1,1] and
// meets every pixel of an image that is stored channels-last. Both cases are loops over memory.
#pragma once
#include "kernels/common/prepare.h"

namespace deuteron {

struct OperandPair {
  int32_t count = 0;  // elements of the result and of the longer operand
  // elements of the shorter operand, which repeats; equals count when both are as long
  int32_t period = 0;
  bool swapped = false;  // the shorter operand is the first
};

// Arguments are positions in the call, to say which one is wrong. Their types are the caller's.
inline Status meet_layouts(const Call& call, int self, int other, int out, OperandPair* pair) {
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

// The same of int8.
inline Status meet(const Call& call, int self, int other, int out, OperandPair* pair) {
  for (const int i : {self, other, out})
    if (call.tensor(i).type != ScalarType::s8) return bad_argument(i, "must be int8");
  return meet_layouts(call, self, other, out, pair);
}

}  // namespace deuteron
