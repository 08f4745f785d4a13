// From the call of cortex_m::quantized_add, which rounds three times, to that of deuteron::linear_add, which rounds once. The bits stay:
// its factors are looked for beside the real ones and where there is most room for them, and proved on all 65 536 pairs of values; without
// such factors the refusal says so.
#pragma once
#include "ops/packed_conv2d/packing.h"

namespace deuteron {

Result<Lowered> linearize_add(const PlainCall&);

}  // namespace deuteron
