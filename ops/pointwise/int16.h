// SPDX-License-Identifier: Apache-2.0
// A chain of functions of one element on int16 (ops/int16.h).
#pragma once
#include "ops/op.h"
#include "ops/pointwise/pointwise.h"

namespace deuteron {

Result<Lowered> int16_form(const Pointwise&, const LowerContext&);

}  // namespace deuteron
