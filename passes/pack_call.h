// A dense call with packed weights.
#pragma once
#include "ops/packed_conv2d/packing.h"

namespace deuteron {

// The call in the place of a plain one; the refusal says why it stays plain. Has no multiply-adds yet.
Result<Lowered> pack_call(const PlainCall&);

}  // namespace deuteron
