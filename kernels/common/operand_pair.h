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

// Arguments are positions in the call, to say which one is wrong. Their types are the row's.
Status meet(const Call& call, int self, int other, int out, OperandPair* pair);

// Keeps the call with the longer operand first.
template <class T, auto portable, auto mve = portable, auto dsp = portable, auto scalar = portable,
          class Args>
Status keep_pair(Call& call, Prepared* prepared, const Args& a, const OperandPair& pair, int self,
                 int other, int out) {
  const auto* x = static_cast<const T*>(call.tensor(pair.swapped ? other : self).data);
  const auto* y = static_cast<const T*>(call.tensor(pair.swapped ? self : other).data);
  return keep_fastest<portable, mve, dsp, scalar>(call, prepared, a, x, y,
                                                  static_cast<T*>(call.tensor(out).data));
}

}  // namespace deuteron
