// SPDX-License-Identifier: Apache-2.0
// CONV_3D: a convolution sees the slices of its depth side by side as channels of one image, so
// that its sum stays one sum.
#include <fmt/format.h>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/window.h"

namespace deuteron::tflite {

// [n, d, h, w, c] as [n * out, h, w, taps * c].
static ValueId taps_as_channels(Call& c, ValueId x, const Side& depth) {
  if (depth.before > 0 || depth.after > 0)
    x = c.add(Pad{{0, depth.before, 0, 0, 0}, {0, depth.after, 0, 0, 0}}, {x}, "padded");
  if (!c.ok()) return -1;
  const Shape s = c.shape(x);
  std::vector<ValueId> taps;
  for (i64 k = 0; k < depth.kernel && c.ok(); ++k) {
    const bool whole = k == 0 && depth.out == s[1];
    taps.push_back(
        whole ? x
              : c.add(Slice{1, k * depth.dilation, depth.out, depth.out == 1 ? 1 : depth.stride},
                      {x}, fmt::format("tap{}", k)));
  }
  const ValueId joined = taps.size() == 1 ? taps[0] : c.add(Concat{4}, taps, "taps");
  return c.reshape(joined, {s[0] * depth.out, s[2], s[3], depth.kernel * s[4]}, "images");
}

static void import_conv_3d(Call& c) {
  const auto* o = c.options<Conv3DOptions>();
  c.takes(2, 3);
  c.require(c.declared(0).quant.empty() && !c.is_quantized_result(),
            "works on steps, for which TFLite has no kernel",
            std::string(name_of(c.declared(0).dtype)), "FLOAT32", "tflite.conv_3d.type");
  c.require(c.is_made_of_constants(1), "has weights that are computed, they have to be constants",
            "", "", "tflite.operand.constant");
  const ValueId x = c.real(0), weight = c.real(1);
  c.require(c.rank(x) == 5 && c.rank(weight) == 5, "works on volumes, of 5 axes",
            fmt::format("{}, {}", c.rank(x), c.rank(weight)), "5, 5", "tflite.operand.rank");
  if (!c.ok()) return;
  const Shape s = c.shape(x), w = c.shape(weight);
  c.require(s[4] == w[3], "has weights that do not fit the volume's channels", std::to_string(w[3]),
            std::to_string(s[4]), "tflite.conv_3d.channels");
  Side sides[3] = {{s[1], w[0], o->stride_d(), o->dilation_d_factor()},
                   {s[2], w[1], o->stride_h(), o->dilation_h_factor()},
                   {s[3], w[2], o->stride_w(), o->dilation_w_factor()}};
  for (Side& side : sides) pad_side(c, o->padding(), side);
  if (!c.ok()) return;
  const auto& [d, h, v] = sides;
  Conv2d op;
  op.stride = {h.stride, v.stride}, op.dilation = {h.dilation, v.dilation};
  op.pad_before = {h.before, v.before}, op.pad_after = {h.after, v.after};
  op.bounds = bounds_of(c, o->fused_activation_function());
  const ValueId filters = c.reshape(c.permute(weight, {4, 1, 2, 0, 3}, "weight"),
                                    {w[4], w[1], w[2], w[0] * w[3]}, "filters");
  std::vector<ValueId> inputs{taps_as_channels(c, x, d), filters};
  if (c.has(2)) inputs.push_back(c.bias(2, c.declared(0), c.declared(1), w[4]));
  const ValueId images = c.add(op, std::move(inputs), "volume");
  if (c.ok()) c.result(c.reshape(images, {s[0], d.out, h.out, v.out, w[4]}));
}

static constexpr ImportRow kVolumesRows[] = {
    {BuiltinOperator::CONV_3D, import_conv_3d},
};
ImportRows volumes_rows() { return kVolumesRows; }

}  // namespace deuteron::tflite
