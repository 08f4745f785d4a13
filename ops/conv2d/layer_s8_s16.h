// SPDX-License-Identifier: Apache-2.0
// A convolution or a linear layer on int8 whose result is int16.
#pragma once
#include "ops/conv2d/layer_s16.h"

namespace deuteron {

// Not of a depthwise convolution. Operands are int8, the bias int32. Refused unless no sum can
// leave int32.
Result<Lowered> lower_int16_result(const Int16Layer& l, const LowerContext& c);

}  // namespace deuteron
