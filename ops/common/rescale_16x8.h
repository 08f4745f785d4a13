// SPDX-License-Identifier: Apache-2.0
// Changes of int16 steps as TFLite computes them.
#pragma once
#include "ops/op.h"

namespace deuteron {

// The operand's steps from 0 up times `factor`, those below times `below`, in the result's steps
// and bounds: at least one of them int16.
Result<Lowered> lower_rescale_16x8(const LowerContext& c, double factor, double below,
                                   const Bounds& bounds);

}  // namespace deuteron
