// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/computed_weights.h"

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/matrix_product.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostWindowElements = i64{1} << 24;

// Along one axis.
struct Steps {
  i64 taps, stride, dilation, before, after;
  i64 count(i64 extent) const {
    return (extent + before + after - dilation * (taps - 1) - 1) / stride + 1;
  }
  bool fits(i64 extent) const { return extent + before + after >= dilation * (taps - 1) + 1; }
};

// Positions of the elements of each window, window by window.
Axes positions(const Steps& s, i64 count) {
  Axes index;
  for (i64 window = 0; window < count; ++window)
    for (i64 tap = 0; tap < s.taps; ++tap) index.push_back(window * s.stride + tap * s.dilation);
  return index;
}

struct Windows {
  ValueId matrix = -1;  // [groups, n*oh*ow, kh*kw*c/groups]
  i64 oh = 0, ow = 0;
};

Windows windows_of(Call& c, ValueId x, const Steps& rows, const Steps& columns, i64 groups) {
  if (!c.ok()) return {};
  const Shape s = c.shape(x);
  c.require(rows.fits(s[1]) && columns.fits(s[2]), "the kernel is larger than the image",
            to_text(Shape{rows.taps, columns.taps}), to_text(Shape{s[1], s[2]}),
            "pt2.conv2d.extent");
  if (!c.ok()) return {};
  const i64 oh = rows.count(s[1]), ow = columns.count(s[2]), taps = rows.taps * columns.taps,
            length = taps * (s[3] / groups);
  c.require(s[0] * oh * ow * taps * s[3] <= kMostWindowElements,
            "a convolution with a computed weight has too many elements in its windows",
            to_text(Shape{s[0], oh, ow, taps * s[3]}), std::to_string(kMostWindowElements),
            "pt2.conv2d.windows");
  if (!c.ok()) return {};
  ValueId y = x;
  if (rows.before + rows.after + columns.before + columns.after > 0) {
    Pad pad;
    pad.before = {0, rows.before, columns.before, 0}, pad.after = {0, rows.after, columns.after, 0};
    y = c.add(std::move(pad), {y}, "padded");
  }
  if (!c.ok()) return {};
  y = picked(c, y, 1, positions(rows, oh), "rows");
  y = picked(c, y, 2, positions(columns, ow), "columns");
  if (taps > 1)
    y = c.permute(c.reshape(y, {s[0] * oh, rows.taps, ow, columns.taps * s[3]}, "blocks"),
                  {0, 2, 1, 3}, "windows");
  if (groups > 1)
    y = c.permute(c.reshape(y, {s[0] * oh * ow, taps, groups, s[3] / groups}, "channels"),
                  {2, 0, 1, 3}, "groups");
  return {c.ok() ? c.reshape(y, {groups, s[0] * oh * ow, length}, "matrix") : -1, oh, ow};
}

}  // namespace

ValueId convolution_by_matrix(Call& c, const Conv2d& op, ValueId x, ValueId weight, ValueId bias) {
  if (!c.ok()) return -1;
  c.tell_parts("its weight is computed, so its windows are gathered and multiplied as a matrix");
  const Shape s = c.shape(x), w = c.shape(weight);
  c.require(w[0] % op.groups == 0 && s[3] == w[3] * op.groups,
            "channels, weight and groups do not fit", to_text(w), to_text(s), "pt2.conv2d.groups");
  if (!c.ok()) return -1;
  const Windows windows =
      windows_of(c, x, {w[1], op.stride.h, op.dilation.h, op.pad_before.h, op.pad_after.h},
                 {w[2], op.stride.w, op.dilation.w, op.pad_before.w, op.pad_after.w}, op.groups);
  if (!c.ok()) return -1;
  const ValueId filters =
      c.reshape(weight, {op.groups, w[0] / op.groups, w[1] * w[2] * w[3]}, "filters");
  const ValueId products = matrix_product(
      c, windows.matrix, c.permute(filters, {0, 2, 1}, "columns_of_filters"), 1, "products");
  const ValueId image = c.reshape(c.permute(products, {1, 0, 2}, "pixels"),
                                  {s[0], windows.oh, windows.ow, w[0]}, "image");
  return bias < 0 ? image : sum(c, image, bias, "with_bias");
}

ValueId transposed_convolution_by_matrix(Call& c, const ConvTranspose2d& op, ValueId x,
                                         ValueId weight, ValueId bias) {
  if (!c.ok()) return -1;
  const Shape s = c.shape(x), w = c.shape(weight);  // [oc,kh,kw,ic/groups]
  const HW reach{op.dilation.h * (w[1] - 1), op.dilation.w * (w[2] - 1)};
  c.require(op.pad.h <= reach.h && op.pad.w <= reach.w,
            "the padding cuts off more than the kernel reaches", to_text(Shape{op.pad.h, op.pad.w}),
            to_text(Shape{reach.h, reach.w}), "pt2.conv2d.padding");
  if (!c.ok()) return -1;
  ValueId y = x;
  if (op.stride != HW{1, 1}) {
    Pad pad;
    pad.before = {0, 0, 0, 0, 0}, pad.after = {0, 0, op.stride.h - 1, 0, (op.stride.w - 1) * s[3]};
    y = padded(c, c.reshape(x, {s[0], s[1], 1, s[2], s[3]}, "apart"), pad, "zeros_between");
    y = c.reshape(y, {s[0], s[1] * op.stride.h, s[2] * op.stride.w, s[3]}, "spread");
    const HW used{(s[1] - 1) * op.stride.h + 1,
                  (s[2] - 1) * op.stride.w + 1};  // without the zeros behind the last
    if (op.stride.h > 1) y = c.add(Slice{1, 0, used.h, 1}, {y}, "used_rows");
    if (op.stride.w > 1) y = c.add(Slice{2, 0, used.w, 1}, {y}, "used_columns");
  }
  Conv2d plain;
  plain.dilation = op.dilation, plain.groups = op.groups;
  plain.pad_before = {reach.h - op.pad.h, reach.w - op.pad.w};
  plain.pad_after = {plain.pad_before.h + op.output_pad.h, plain.pad_before.w + op.output_pad.w};
  Axes reversed;
  for (i64 k = w[1] * w[2]; k-- > 0;) reversed.push_back(k);
  const ValueId taps = picked(c, c.reshape(weight, {w[0], w[1] * w[2], w[3]}, "taps"), 1,
                              std::move(reversed), "reversed");
  return convolution_by_matrix(c, plain, y, c.reshape(taps, w, "reversed_weight"), bias);
}

}  // namespace deuteron::pt2
