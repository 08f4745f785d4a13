// Operators that no int8 kernel takes: they run in float, on portable kernels.
#pragma once
#include "passes/pass.h"

namespace deuteron {

// The call of a portable kernel for float operands; what is missing, when there is none. Portable kernels have no
// bounds: an operator with bounds has no such call.
Result<Lowered> float_call(const Op&, const LowerContext&);

}  // namespace deuteron
