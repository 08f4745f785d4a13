// SPDX-License-Identifier: Apache-2.0
// int8 arithmetic of two operands, element for element: add, sub, mul, maximum, minimum.
//   add, sub   y = y_zero + rq_y(rq_x((a - x_zero) << left_shift) +- rq_other((b - other_zero) <<
//   left_shift)) mul        y = y_zero + rq_y((a - x_zero) * (b - other_zero)) maximum, minimum the
//   larger or smaller step: all three have one scale and zero point
// rq is requantize() of kernels/integer/requantize.h with the multiplier named.
#pragma once
#include "kernels/integer/requantize.h"
#include "ops/common/multiplier.h"
#include "ops/common/pair_fn.h"

namespace deuteron {

// Multipliers that the function does not use are {0, 0}.
struct PairMultipliers {
  i32 left_shift = 0;
  Multiplier x, other, y;
};
// `other` counts times `other_factor`, which is not negative.
Result<PairMultipliers> pair_multipliers(PairFn fn, const Quant& x, const Quant& other,
                                         const Quant& y, Rounding rounding, const char* rule,
                                         double other_factor = 1);

// One result, not yet held to the bounds of y; within int32.
i32 pair_value(PairFn fn, const PairMultipliers& m, const Quant& x, const Quant& other,
               const Quant& y, i32 a, i32 b);

}  // namespace deuteron
