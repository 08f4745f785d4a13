// Convolution on int16 (ops/int16.h).
#pragma once
#include "ops/conv2d/conv2d.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Conv2d&, const LowerContext&);

}  // namespace deuteron
