// SPDX-License-Identifier: Apache-2.0
// Importing an operator that takes one operand and one of its axes, and is in the graph as it is in
// torch: all it needs is a row.
#pragma once
#include "frontends/pt2/call/call.h"
#include "frontends/pt2/operators/leftovers.h"

namespace deuteron::pt2 {

// T{axis} in float32. Of integers, and of a number alone, torch's operator is the portable kernel's
// (leftovers.cpp has its row).
template <class T>
void import_along_axis(Call& c) {
  const ValueId x = c.any_tensor("self");
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  if (c.type(x).dtype != DType::f32 || declared->dtype != DType::f32 || c.rank(x) == 0)
    return import_leftover(c);
  const i64 axis = c.axis("dim", c.rank(x));
  if (c.ok()) c.result(c.add(T{axis}, {x}));
}

}  // namespace deuteron::pt2
