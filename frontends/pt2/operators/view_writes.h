// SPDX-License-Identifier: Apache-2.0
// Writing a part of a tensor: what scatter by slices does, and what an operator in place on a view
// does to the tensor that is viewed.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// x with the elements start, start + step, .. < end of an axis taken from `part`. Refuses a part of
// another extent.
ValueId with_slice(Call& c, ValueId x, ValueId part, i64 axis, i64 start, i64 end, i64 step);

// x with `part` written over it: element k of the part, in the part's own order, goes to element
// positions[k] of x in its own. Both in the user's axes and of one dtype; positions within x.
// Blocks, rows and every n-th row are concatenations; anything else is a gather of single elements.
ValueId with_elements(Call& c, ValueId x, ValueId part, const Axes& positions);

}  // namespace deuteron::pt2
