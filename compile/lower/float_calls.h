// SPDX-License-Identifier: Apache-2.0
// Kernels of ATen for operators in float: what no int8 kernel takes runs on them.
#pragma once
#include "ops/all.h"

namespace deuteron {

// The call of a portable kernel for float operands; what is missing, when there is none. Portable
// kernels have no bounds: an operator with bounds has no such call.
Result<Lowered> float_call(const Op&, const LowerContext&);

}  // namespace deuteron
