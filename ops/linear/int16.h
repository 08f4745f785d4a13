// A linear layer on int16 (ops/int16.h).
#pragma once
#include "ops/linear/linear.h"
#include "ops/op.h"

namespace deuteron {

Result<Lowered> int16_form(const Linear&, const LowerContext&);

}  // namespace deuteron
