// SPDX-License-Identifier: Apache-2.0
// What a convolution becomes that no kernel takes, or that stock firmware's computes wrongly.
// docs/design.md, "Uneven padding"
#include <algorithm>

#include "kernels/image/window.h"
#include "ops/form.h"

namespace deuteron {

enum { kImage, kFilters };

// `between`: elements from a place on the axis to the next.
static bool takes_axis(i64 extent, i64 out, i64 kernel, i64 stride, i64 pad, i64 dilation,
                       i64 between) {
  for (const i64 v : {extent, out, kernel, stride, pad, dilation, between})
    if (v > INT32_MAX) return false;
  auto of_windows = static_cast<i32>(stride), of_taps = static_cast<i32>(dilation);
  return why_not_window(static_cast<i32>(extent), static_cast<i32>(out), static_cast<i32>(kernel),
                        of_windows, static_cast<i32>(pad), of_taps) == nullptr &&
         why_not_steps(static_cast<i32>(out), between, &of_windows) == nullptr &&
         why_not_steps(static_cast<i32>(kernel), between, &of_taps) == nullptr;
}

bool takes_windows(const Conv2d& a, const Shape& x, const Shape& w, const Shape& y) {
  return takes_axis(x[1], y[1], w[1], a.stride.h, a.pad_before.h, a.dilation.h, x[2] * x[3]) &&
         takes_axis(x[2], y[2], w[2], a.stride.w, a.pad_before.w, a.dilation.w, x[3]);
}

// conv2d with a window that begins far behind the image   becomes   pad -> conv2d
static bool far_padding_to_pad(const Conv2d& a, FormBuilder& b) {
  if (a.pad_before == HW{} && a.pad_after == HW{}) return false;
  if (takes_windows(a, b.type(kImage).shape, b.type(kFilters).shape, b.result().shape))
    return false;
  Conv2d plain = a;
  plain.pad_before = plain.pad_after = {};
  std::vector<ValueId> inputs = b.inputs();
  const Pad pad{{0, a.pad_before.h, a.pad_before.w, 0}, {0, a.pad_after.h, a.pad_after.w, 0}, 0};
  inputs[kImage] = b.add(pad, {kImage}, b.type(kImage).quant, b.name(kImage) + ".padded");
  return b.finish(plain, std::move(inputs));
}

// A convolution over one row of pixels   becomes   one over one column: the same bytes, and not the
// row-wise kernel that stock MVE firmware would take, which gives wrong numbers for many strides
// and paddings.
static bool row_to_column(const Conv2d& a, FormBuilder& b) {
  const Type &x = b.type(kImage), &w = b.type(kFilters), &y = b.result();
  if (x.shape[1] != 1 || x.shape[2] == 1 || w.shape[1] != 1 || y.shape[1] != 1) return false;
  std::vector<ValueId> inputs = b.inputs();
  inputs[kImage] = b.add(Reshape{{x.shape[0], x.shape[2], 1, x.shape[3]}}, {kImage}, x.quant);
  inputs[kFilters] = b.add(Reshape{{w.shape[0], w.shape[2], 1, w.shape[3]}}, {kFilters}, w.quant,
                           b.name(kFilters));
  Conv2d column = a;
  for (HW* hw : {&column.stride, &column.pad_before, &column.pad_after, &column.dilation})
    std::swap(hw->h, hw->w);
  const ValueId pixels = b.add(column, std::move(inputs), y.quant, b.result_name());
  return b.finish(Reshape{y.shape}, {pixels});
}

// depthwise 3x3 with a window that begins in the last column   becomes   depthwise 3x4 with a
// column of zeros The stock kernel for 3x3 (scalar and DSP) reads past the row there; the general
// one does not.
static bool widen_depthwise(const Conv2d& a, FormBuilder& b) {
  const Shape &x = b.type(kImage).shape, &y = b.result().shape, &w = b.type(kFilters).shape;
  const bool three = w[1] == 3 && w[2] == 3 && a.dilation == HW{1, 1} && a.pad_before.h <= 1 &&
                     a.pad_before.w <= 1;
  if (!three || a.groups != x[3] || w[0] != x[3] || x[0] != 1 || !b.data(kFilters)) return false;
  if ((y[2] - 1) * a.stride.w - a.pad_before.w < x[2] - 1) return false;
  const std::span<const int8_t> from = b.data(kFilters)->as<int8_t>();
  std::vector<int8_t> to;
  for (size_t k = 0; k < from.size(); k += 3)
    to.insert(to.end(), {from[k], from[k + 1], from[k + 2], 0});
  Conv2d wide = a;
  wide.pad_after.w += 1;
  std::vector<ValueId> inputs = b.inputs();
  const Type type{DType::s8, {w[0], 3, 4, 1}, b.type(kFilters).quant};
  inputs[kFilters] = b.constant(type, constant_of(std::move(to)), b.name(kFilters));
  return b.finish(wide, std::move(inputs));
}

// 1x1 conv2d of one pixel, for stock firmware on DSP   becomes   one over a column of pixels with
// fewer channels: the same bytes Stock's 1x1 kernel takes pixels in pairs, and 5.4 instructions for
// a multiply-add of the last one; its general kernel takes half of that.
static bool pixel_to_column(const Conv2d& a, FormBuilder& b) {
  const Type &x = b.type(kImage), &w = b.type(kFilters), &y = b.result();
  const i64 channels = x.shape[3];
  if (a.groups != 1 || a.pad_before != HW{} || a.pad_after != HW{} || w.shape[1] != 1 ||
      w.shape[2] != 1 || x.elements() != channels || y.elements() != w.shape[0])
    return false;
  i64 pixels = 2;
  while (pixels < channels && channels % pixels != 0) ++pixels;
  if (pixels >= channels) return false;
  std::vector<ValueId> inputs = b.inputs();
  inputs[kImage] = b.add(Reshape{{1, pixels, 1, channels / pixels}}, {kImage}, x.quant);
  inputs[kFilters] = b.add(Reshape{{w.shape[0], pixels, 1, channels / pixels}}, {kFilters}, w.quant,
                           b.name(kFilters));
  return b.finish(a, std::move(inputs));
}

bool kernel_form(const Conv2d& a, FormBuilder& b) {
  if (b.type(kImage).dtype != DType::s8) return false;
  if (b.site().for_stock && b.site().isa == Isa::dsp && pixel_to_column(a, b)) return true;
  return far_padding_to_pad(a, b) ||
         (b.site().isa == Isa::mve ? row_to_column(a, b) : widen_depthwise(a, b));
}

// conv2d with uneven padding, in float   becomes   pad -> conv2d: torch's kernel pads both sides
// alike
static bool uneven_padding_in_float(const Conv2d& a, FormBuilder& b) {
  if (b.type(kImage).dtype != DType::f32 || a.pad_before == a.pad_after) return false;
  Conv2d even = a;
  const HW both{std::min(a.pad_before.h, a.pad_after.h), std::min(a.pad_before.w, a.pad_after.w)};
  even.pad_before = even.pad_after = both;
  std::vector<ValueId> inputs = b.inputs();
  const Pad pad{{0, a.pad_before.h - both.h, a.pad_before.w - both.w, 0},
                {0, a.pad_after.h - both.h, a.pad_after.w - both.w, 0},
                0};
  inputs[kImage] = b.add(pad, {kImage}, {}, b.name(kImage) + ".padded");
  return b.finish(even, std::move(inputs));
}

bool portable_form(const Conv2d& a, FormBuilder& b) { return uneven_padding_in_float(a, b); }

}  // namespace deuteron
