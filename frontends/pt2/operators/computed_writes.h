// SPDX-License-Identifier: Apache-2.0
// Writing to slices along an axis at positions that the model computes: a cache of keys and values,
// a ring of samples.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Slice k of the source goes to position index[k] of x, or is added to it. `index` has integers,
// which may count from the end; the source has the shape of x, but for as many slices along the
// axis.
ValueId written_along(Call& c, ValueId x, i64 axis, ValueId index, ValueId source, bool adds);

}  // namespace deuteron::pt2
