// SPDX-License-Identifier: Apache-2.0
// A matrix product of operands with zero points as one of operands without, to the last bit: longer
// rows, in which steps and numbers take turns.
//   sum (x - zx) (o - zo)  =  sum x o  +  sum (-zx) o  +  sum x (-zo)  +  inner zx zo
// Each sum is a piece of the inner axis. A number that int8 cannot hold (128) takes two pieces. The
// last sum is known: a few columns hold it.
#pragma once
#include <optional>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

struct InnerPiece {
  i64 extent;
  std::optional<i32> fill;  // nothing: the operand's own steps
};
struct InnerPieces {
  std::vector<InnerPiece> x,
      other;  // piece k of one faces piece k of the other, but for where neighbours are one
  i64 extent() const;  // of all pieces, a multiple of 8 where `inner` is one
};

InnerPieces without_zero_points(i32 x_zero, i32 other_zero, i64 inner);

}  // namespace deuteron
