// SPDX-License-Identifier: Apache-2.0
// Extents of pooling windows.
#pragma once
#include "ops/attributes.h"
#include "ops/facts.h"
#include "ops/npu.h"

namespace deuteron {

// With ceil_mode a last window may hang over the end, but must start inside the image or its left
// padding (as PyTorch has it).
inline i64 pooled_extent(i64 extent, i64 window, i64 stride, i64 pad, i64 dilation,
                         bool ceil_mode) {
  const i64 span = extent + 2 * pad - dilation * (window - 1) - 1;
  if (span < 0) return 0;
  i64 n = span / stride + 1;
  if (ceil_mode && span % stride != 0 && n * stride < extent + pad) ++n;
  return n;
}

// For the NPU: no window reaches past the padded image.
template <class Pool>
std::optional<i64> windows_stay_inside(const Pool& a, const NpuOperands& o) {
  const Shape &x = o.in[0].shape, &y = o.out[0].shape;
  return (y[1] - 1) * a.stride.h + a.kernel.h <= x[1] + 2 * a.pad.h &&
                 (y[2] - 1) * a.stride.w + a.kernel.w <= x[2] + 2 * a.pad.w
             ? 1
             : 0;
}

// Pads the same on both sides, so a band at the border cannot have it on one; a window that hangs
// over the end likewise.
template <class Pool>
bool reads_whole_rows(const Pool& a, HW dilation, const Shape& x, const Shape& y) {
  const i64 axis = band_axis(y), last = (y[axis] - 1) * a.stride.along(axis);
  return a.pad.along(axis) == 0 &&
         last + (a.kernel.along(axis) - 1) * dilation.along(axis) + 1 <= x[axis];
}
template <class Pool>
std::optional<Pool> same_for_every_band(const Pool& a, TypeView, TypeView, const RowBand&) {
  return a;
}

}  // namespace deuteron
