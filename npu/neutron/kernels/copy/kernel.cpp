// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/copy/call.h"

namespace deuteron::neutron {
namespace {

void copy(const CopyCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  const Walk walk = walk_of(a.extent, a.x_stride, a.y_stride, nullptr);
  const int last = walk.rank - 1;
  const int32_t count = walk.extent[last], x_step = walk.stride[0][last],
                y_step = walk.stride[1][last];
  for_each_row(walk, [&](int32_t x_at, int32_t y_at, int32_t) {
    if (x_step == 1 && y_step == 1) {
      std::memmove(y + y_at, x + x_at,
                   static_cast<size_t>(count));  // operands of microcode may overlap
      return;
    }
    for (int32_t i = 0; i < count; ++i)
      y[y_at + int64_t{i} * y_step] = x[x_at + int64_t{i} * x_step];
  });
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Slice, copy(a, memory))
DEUTERON_NEUTRON_KERNEL(StridedSliceConcat, copy(a, memory))
DEUTERON_NEUTRON_KERNEL(TransposeCHW, copy(a, memory))
