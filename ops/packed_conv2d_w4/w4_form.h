// SPDX-License-Identifier: Apache-2.0
// From a call of deuteron::packed_conv2d to one whose weights have four bits, where they are such numbers.
#pragma once
#include "ops/op.h"

namespace deuteron {

// `packed`: a lowered call whose only constant is its weights. The refusal says which weights are no products of four bits and a factor.
Result<Lowered> with_w4_weights(const Lowered& packed);

}  // namespace deuteron
