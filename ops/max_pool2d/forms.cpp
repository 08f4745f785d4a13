// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"

namespace deuteron {

// The rows or columns that the windows along one axis see, window after window. A tap in the
// padding repeats another one of its window, which changes no maximum.
static Axes taps_of_windows(i64 extent, i64 out, i64 kernel, i64 stride, i64 pad, i64 dilation) {
  Axes index;
  for (i64 o = 0; o < out; ++o) {
    const i64 first = o * stride - pad;
    i64 inside = -1;
    for (i64 k = 0; k < kernel && inside < 0; ++k)
      if (const i64 at = first + k * dilation; at >= 0 && at < extent) inside = at;
    if (inside < 0) return {};
    for (i64 k = 0; k < kernel; ++k) {
      const i64 at = first + k * dilation;
      index.push_back(at >= 0 && at < extent ? at : inside);
    }
  }
  return index;
}

// max_pool2d with dilation   becomes   gathers of the taps along both axes -> max_pool2d over
// neighbours
static bool dilated_pool_to_gather(const MaxPool2d& a, FormBuilder& b) {
  if (a.dilation == HW{1, 1}) return false;
  const Type &x = b.type(0), &y = b.result();
  const Axes rows =
      taps_of_windows(x.shape[1], y.shape[1], a.kernel.h, a.stride.h, a.pad.h, a.dilation.h);
  const Axes columns =
      taps_of_windows(x.shape[2], y.shape[2], a.kernel.w, a.stride.w, a.pad.w, a.dilation.w);
  if (rows.empty() || columns.empty()) return false;
  MaxPool2d plain;
  plain.kernel = plain.stride = a.kernel;
  plain.bounds = a.bounds;
  const ValueId high = b.add(Gather{1, rows}, {0}, x.quant);
  const ValueId wide = b.add(Gather{2, columns}, {high}, x.quant);
  return b.finish(plain, {wide});
}

bool kernel_form(const MaxPool2d& a, FormBuilder& b) { return dilated_pool_to_gather(a, b); }

}  // namespace deuteron
