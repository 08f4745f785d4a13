// SPDX-License-Identifier: Apache-2.0
// What TFLite's rounding does to sums along axes. It rounds to a fraction of a step first, 2^-bits,
// and what then is half a step goes away from zero: of all results that should have been nearer to
// it, one in 2^(bits + 1). With few bits that is much.
#pragma once
#include "ops/all.h"

namespace deuteron {

// By how many steps a mean or a sum of int8 is too far from zero, in the mean; 0: another operator,
// or it is rounded once.
double excess_of_sum(const Op& op, const Type& x, const Type& y);
// By how many dB that makes the noise of the result larger, beside its own rounding and those of
// what it adds up, each a uniform error of one step.
double noise_of_excess_db(const Op& op, const Type& x, const Type& y);

}  // namespace deuteron
