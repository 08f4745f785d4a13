// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/computed_writes.h"

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/kernel_result.h"

namespace deuteron::pt2 {

ValueId written_along(Call& c, ValueId x, i64 axis, ValueId index, ValueId source, bool adds) {
  if (!c.ok()) return -1;
  const DType dtype = c.type(index).dtype;
  c.give_up_if_broken(index);
  c.require(!c.ok() || dtype == DType::s64 || dtype == DType::s32, "writes at what are no integers",
            std::string(name_of(dtype)), "s64, s32", "pt2.index.dtype");
  if (!c.ok()) return -1;
  return kernel_result(c, "aten::index_put.out",
                       {x, at_axis(axis, c.reshape(index, {c.type(index).elements()}, "positions")),
                        source, truth(adds)},
                       c.type(x));
}

}  // namespace deuteron::pt2
