// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ops/conv_transpose2d/stock_limits.h"
#include "ops/form.h"

namespace deuteron {

enum { kImage, kFilters };

// [oc,kh,kw,c/groups] with zeros between the taps, `above` rows of them before, behind them up to
// `kernel`, and for the channels of other groups.
template <class Number>
static std::vector<Number> spread_weight(std::span<const Number> from, const Shape& w,
                                         const ConvTranspose2d& a, HW kernel, i64 above) {
  const i64 oc = w[0], cg = w[3], channels = cg * a.groups;
  std::vector<Number> to(static_cast<size_t>(oc * kernel.h * kernel.w * channels), Number{0});
  for (i64 o = 0; o < oc; ++o)
    for (i64 h = 0; h < w[1]; ++h)
      for (i64 k = 0; k < w[2]; ++k) {
        const i64 first = o / (oc / a.groups) * cg;
        const auto begin = from.begin() + ((o * w[1] + h) * w[2] + k) * cg;
        std::copy_n(begin, cg,
                    to.begin() +
                        ((o * kernel.h + above + h * a.dilation.h) * kernel.w + k * a.dilation.w) *
                            channels +
                        first);
      }
  return to;
}

// conv_transpose2d with dilation, groups or output padding, or one that the stock kernel computes
// wrongly or outside its tensors
//   becomes   one with zeros in its weight; where that is not enough, without padding, and slices
//   of its result
static bool transposed_to_kernel_form(const ConvTranspose2d& a, FormBuilder& b) {
  const Type &x = b.type(kImage), &weight = b.type(kFilters), &y = b.result();
  const Constant* data = b.data(kFilters);
  if (x.dtype != DType::s8 || !data || weight.dtype != DType::s8) return false;
  const Shape& w = weight.shape;
  const auto differs = [&](const ConvTranspose2d& o, const Shape& kernel, const Shape& out) {
    return why_stock_conv_transpose2d_differs(kernel_args(o, x.shape, kernel, out),
                                              b.site().cmsis_nn) != nullptr;
  };
  // output padding is in the result's extents
  const bool plain = a.dilation == HW{1, 1} && a.groups == 1;
  if (plain && !differs(a, w, y.shape)) return false;

  ConvTranspose2d moved = a;
  moved.dilation = {1, 1};
  moved.groups = 1;
  moved.output_pad = {0, 0};
  // Zeros behind the last tap stand for the output padding.
  HW kernel{a.dilation.h * (w[1] - 1) + 1 + a.output_pad.h,
            a.dilation.w * (w[2] - 1) + 1 + a.output_pad.w};
  Shape whole = y.shape;
  const auto is_wrong = [&] {
    return differs(moved, {w[0], kernel.h, kernel.w, x.shape[3]}, y.shape);
  };
  bool crops = is_wrong();
  i64 above = 0;
  // Zeros before the first row of taps bring the padding to a multiple of the stride; the output
  // padding is what is too much below.
  if (const i64 rest = a.pad.h % a.stride.h; crops && rest > 0) {
    moved.output_pad.h = above = a.stride.h - rest;
    kernel.h += above;
    moved.pad.h += above;
    crops = is_wrong();
    if (crops) kernel.h -= std::exchange(above, 0);
  }
  if (crops) {
    moved.output_pad = {0, 0};
    kernel = {std::max({kernel.h, kernel.h - a.pad.h, a.stride.h}),
              std::max({kernel.w, kernel.w - a.pad.w, a.stride.w})};
    moved.pad = {0, 0};
    whole[1] = (x.shape[1] - 1) * a.stride.h + kernel.h;
    whole[2] = (x.shape[2] - 1) * a.stride.w + kernel.w;
  }
  std::vector<ValueId> inputs = b.inputs();
  const Type type{DType::s8, {w[0], kernel.h, kernel.w, x.shape[3]}, weight.quant};
  inputs[kFilters] = b.constant(
      type, constant_of(spread_weight(data->as<int8_t>(), w, a, kernel, above)), b.name(kFilters));
  if (!crops) return b.finish(moved, std::move(inputs));
  ValueId v = b.add(moved, std::move(inputs), y.quant, b.result_name());
  if (whole[1] != y.shape[1]) v = b.add(Slice{1, a.pad.h, y.shape[1], 1}, {v}, y.quant);
  if (whole[2] != y.shape[2]) v = b.add(Slice{2, a.pad.w, y.shape[2], 1}, {v}, y.quant);
  return b.finish(v);
}

// conv_transpose2d with groups, in float   becomes   one with zeros in its weight: torch's kernel
// has its channels in another order
static bool dense_in_float(const ConvTranspose2d& a, FormBuilder& b) {
  const Type& weight = b.type(kFilters);
  const Constant* data = b.data(kFilters);
  if (a.groups == 1 || !data || weight.dtype != DType::f32) return false;
  ConvTranspose2d dense = a;
  dense.groups = 1;
  ConvTranspose2d in_place = a;
  in_place.dilation = {1, 1};
  const Shape& w = weight.shape;
  std::vector<ValueId> inputs = b.inputs();
  inputs[kFilters] =
      b.constant({DType::f32, {w[0], w[1], w[2], w[3] * a.groups}, {}},
                 constant_of(spread_weight(data->as<float>(), w, in_place, {w[1], w[2]}, 0)),
                 b.name(kFilters));
  return b.finish(dense, std::move(inputs));
}

bool kernel_form(const ConvTranspose2d& a, FormBuilder& b) {
  return transposed_to_kernel_form(a, b) || dense_in_float(a, b);
}

}  // namespace deuteron
