// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/computed_writes.h"

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/kernel_result.h"

namespace deuteron::pt2 {

// scatter, which has an index for each element.
ValueId written_along(Call& c, ValueId x, i64 axis, ValueId index, ValueId source, bool adds) {
  if (!c.ok()) return -1;
  const DType dtype = c.type(index).dtype;
  c.give_up_if_broken(index);
  c.require(!c.ok() || dtype == DType::s64 || dtype == DType::s32, "writes at what are no integers",
            std::string(name_of(dtype)), "s64, s32", "pt2.index.dtype");
  if (!c.ok()) return -1;
  Shape slices(c.shape(x).size(), 1);
  slices[static_cast<size_t>(axis)] = c.type(index).elements();
  const ValueId each =
      expanded(c, c.reshape(index, slices, "positions"), c.shape(source), "each_position");
  return kernel_result(c, adds ? "aten::scatter_add.out" : "aten::scatter.src_out",
                       {x, whole(axis), each, source}, c.type(x));
}

ValueId from_start(Call& c, ValueId index, i64 extent) {
  return kernel_result(c, "aten::remainder.Scalar_out", {index, whole(extent)}, c.type(index));
}

}  // namespace deuteron::pt2
