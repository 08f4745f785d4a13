// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/copy/lower.h"

#include "npu/neutron/kernels/copy/call.h"

namespace deuteron::neutron {

void lower_copy(Lowering& l, Kind kind, TensorId x, i64 x_offset, TensorId y, i64 y_offset,
                StridedAxes axes) {
  axes.simplify();
  if (!axes.fits()) {
    StridedAxes inner{{axes.extent.begin() + 1, axes.extent.end()}, {}};
    for (const auto& st : axes.stride) inner.stride.push_back({st.begin() + 1, st.end()});
    for (i64 i = 0; i < axes.extent[0]; ++i)
      lower_copy(l, kind, x, x_offset + i * axes.stride[0][0], y, y_offset + i * axes.stride[1][0],
                 inner);
    return;
  }
  CopyCall c{};
  axes.fill(c.extent);
  axes.fill(0, c.x_stride);
  axes.fill(1, c.y_stride);
  l.locate(c.x, x, x_offset);
  l.locate(c.y, y, y_offset);
  l.push(kind, c);
}

}  // namespace deuteron::neutron
