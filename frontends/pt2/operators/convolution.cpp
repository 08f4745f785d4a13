// SPDX-License-Identifier: Apache-2.0
// Convolutions over one and two axes, plain and transposed, in all their spellings. Over three:
// volumes.cpp.
#include <fmt/format.h>

#include "frontends/pt2/operators/computed_weights.h"
#include "frontends/pt2/operators/image.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/volumes.h"

namespace deuteron::pt2 {
namespace {

struct Operands {
  ValueId x, weight, bias = -1;
  i64 axes = 2;  // of the window
};

Operands read_operands(Call& c) {
  Operands o{c.tensor("input"), c.tensor("weight")};
  if (c.has("bias")) o.bias = c.tensor("bias");
  const i64 rank = c.rank(o.weight);
  if (c.ok() && rank != 3 && rank != 4)
    c.refuse({fmt::format("{}-D convolution is not supported", rank - 2), std::to_string(rank - 2),
              "1, 2", "pt2.conv2d.rank"});
  o.axes = rank == 3 ? 1 : 2;
  return o;
}

i64 read_groups(Call& c) {
  const i64 groups = c.integer("groups");
  if (c.ok())
    c.require(groups >= 1 && groups <= kMaxElements, "groups are out of range",
              std::to_string(groups), "1..", "pt2.conv2d.groups");
  return groups;
}

void read_window(Call& c, Conv2d& op, i64 axes) {
  op.stride = window(c, "stride", 1, axes, 1);
  op.dilation = window(c, "dilation", 1, axes, 1);
  op.groups = read_groups(c);
}

// [..,k] becomes [..,k,1]: the window of a signal is one element wide.
ValueId with_two_axes(Call& c, ValueId weight, i64 axes) {
  if (!c.ok() || axes == 2) return weight;
  Shape shape = c.shape(weight);
  shape.push_back(1);
  return c.reshape(weight, std::move(shape), "weight");
}

// The operator where its weight is a parameter; where it is computed, a product of matrices.
template <class Convolution>
void finish_with(Call& c, const Convolution& op, const Operands& o, ValueId x, ValueId weight,
                 ValueId (*by_matrix)(Call&, const Convolution&, ValueId, ValueId, ValueId)) {
  if (!c.ok()) return;
  const i64 rank = c.rank(o.x);
  if (!c.is_derived_from_constants(weight))
    return c.result(from_image(c, by_matrix(c, op, x, weight, o.bias), rank, {}, o.axes));
  const bool adds_bias = o.bias >= 0 && !c.is_derived_from_constants(o.bias);
  std::vector<ValueId> inputs{x, weight};
  if (o.bias >= 0 && !adds_bias) inputs.push_back(o.bias);
  ValueId y = c.add(op, std::move(inputs), "out");
  if (adds_bias) y = c.add(Add{}, {y, o.bias}, "with_bias");
  c.result(from_image(c, y, rank, {}, o.axes));
}

// The weight [oc,ic,kh,kw] becomes [oc,kh,kw,ic].
void finish(Call& c, const Conv2d& op, const Operands& o) {
  const ValueId x = to_image(c, o.x, o.axes),
                weight = c.permute(with_two_axes(c, o.weight, o.axes), kToChannelsLast, "weight");
  finish_with(c, op, o, x, weight, convolution_by_matrix);
}

// The weight [ic,oc/groups,kh,kw] becomes [oc,kh,kw,ic/groups].
void finish_transposed(Call& c) {
  const Operands o = read_operands(c);
  ConvTranspose2d op;
  op.stride = window(c, "stride", 1, o.axes, 1);
  op.dilation = window(c, "dilation", 1, o.axes, 1);
  op.pad = window(c, "padding", 0, o.axes, 0);
  op.output_pad = window(c, "output_padding", 0, o.axes, 0);
  op.groups = read_groups(c);
  ValueId weight = with_two_axes(c, o.weight, o.axes);
  if (!c.ok()) return;
  const Shape w = c.shape(weight);
  c.require(w[0] % op.groups == 0, "the input channels do not divide by the groups",
            std::to_string(w[0]), std::to_string(op.groups), "pt2.conv2d.groups");
  if (!c.ok()) return;
  if (op.groups == 1) {
    weight = c.permute(weight, {1, 2, 3, 0}, "weight");
  } else {
    weight = c.reshape(weight, {op.groups, w[0] / op.groups, w[1], w[2], w[3]}, "weight");
    weight = c.permute(weight, {0, 2, 3, 4, 1}, "weight");
    weight = c.reshape(weight, {op.groups * w[1], w[2], w[3], w[0] / op.groups}, "weight");
  }
  finish_with(c, op, o, to_image(c, o.x, o.axes), weight, transposed_convolution_by_matrix);
}

}  // namespace

static void import_conv2d(Call& c) {
  Conv2d op;
  const Operands o = read_operands(c);
  read_window(c, op, o.axes);
  op.pad_before = op.pad_after = window(c, "padding", 0, o.axes, 0);
  finish(c, op, o);
}

static void import_conv_transpose2d(Call& c) { finish_transposed(c); }

static void import_convolution(Call& c) {
  if (c.rank(c.tensor("weight")) == 5)
    return c.boolean("transposed") ? import_conv_transpose3d(c) : import_conv3d(c);
  if (c.boolean("transposed")) finish_transposed(c);
  else import_conv2d(c);
}

// "same" adds dilation * (kernel - 1) in all; of an odd number the extra one goes behind.
static void import_conv2d_padding(Call& c) {
  Conv2d op;
  const Operands o = read_operands(c);
  read_window(c, op, o.axes);
  const std::string padding = c.text("padding");
  if (c.ok() && padding != "same" && padding != "valid")
    c.refuse({"padding is neither same nor valid", padding, "same, valid", "pt2.conv2d.padding"});
  if (c.ok() && padding == "same") {
    c.require(op.stride == HW{1, 1}, "padding `same` is defined for stride 1 only",
              fmt::format("{},{}", op.stride.h, op.stride.w), "1,1", "pt2.conv2d.padding");
    const Shape& w = c.shape(o.weight);
    const HW total{op.dilation.h * (w[2] - 1), o.axes == 1 ? 0 : op.dilation.w * (w.back() - 1)};
    op.pad_before = {total.h / 2, total.w / 2};
    op.pad_after = {total.h - op.pad_before.h, total.w - op.pad_before.w};
  }
  finish(c, op, o);
}

static constexpr ImportRow kConvolutionRows[] = {
    {"aten.conv1d.default", import_conv2d},
    {"aten.conv1d.padding", import_conv2d_padding},
    {"aten.conv2d.default", import_conv2d},
    {"aten.conv2d.padding", import_conv2d_padding},
    {"aten.conv_transpose1d.default", import_conv_transpose2d},
    {"aten.conv_transpose2d.input", import_conv_transpose2d},
    {"aten.convolution.default", import_convolution},
};
ImportRows convolution_rows() { return kConvolutionRows; }

}  // namespace deuteron::pt2
