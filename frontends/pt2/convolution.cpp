// 2-D convolutions in their three spellings.
#include <fmt/format.h>

#include "frontends/pt2/image.h"
#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {
namespace {

struct Operands {
  ValueId x, weight, bias = -1;
};

Operands read_operands(Call& c) {
  Operands o{c.tensor("input"), c.parameter("weight")};
  if (c.has("bias")) o.bias = c.parameter("bias");
  if (const i64 rank = c.rank(o.weight); c.ok() && rank != 4)
    c.refuse({fmt::format("{}-D convolution is not supported", rank - 2), std::to_string(rank - 2), "2", "pt2.conv2d.rank"});
  return o;
}

void read_window(Call& c, Conv2d& op) {
  op.stride = c.pair("stride", 1);
  op.dilation = c.pair("dilation", 1);
  op.groups = c.integer("groups");
  if (c.ok())
    c.require(op.groups >= 1 && op.groups <= kMaxElements, "groups are out of range", std::to_string(op.groups), "1..",
              "pt2.conv2d.groups");
}

// The weight [oc,ic,kh,kw] becomes [oc,kh,kw,ic].
void finish(Call& c, const Conv2d& op, const Operands& o) {
  const i64 rank = c.rank(o.x);
  const ValueId x = to_image(c, o.x), weight = c.permute(o.weight, kToChannelsLast, "weight");
  std::vector<ValueId> inputs{x, weight};
  if (o.bias >= 0) inputs.push_back(o.bias);
  c.result(from_image(c, c.add(op, std::move(inputs), "out"), rank));
}

}  // namespace

void import_conv2d(Call& c) {
  Conv2d op;
  const Operands o = read_operands(c);
  read_window(c, op);
  op.pad_before = op.pad_after = c.pair("padding", 0);
  finish(c, op, o);
}

void import_convolution(Call& c) {
  if (c.boolean("transposed")) c.refuse({"transposed convolution is not supported", "", "", "pt2.conv2d.transposed"});
  import_conv2d(c);
}

// "same" adds dilation * (kernel - 1) in all; of an odd number the extra one goes behind.
void import_conv2d_padding(Call& c) {
  Conv2d op;
  const Operands o = read_operands(c);
  read_window(c, op);
  const std::string padding = c.text("padding");
  if (c.ok() && padding != "same" && padding != "valid")
    c.refuse({"padding is neither same nor valid", padding, "same, valid", "pt2.conv2d.padding"});
  if (c.ok() && padding == "same") {
    c.require(op.stride == HW{1, 1}, "padding `same` is defined for stride 1 only", fmt::format("{},{}", op.stride.h, op.stride.w), "1,1",
              "pt2.conv2d.padding");
    const Shape& w = c.shape(o.weight);
    const HW total{op.dilation.h * (w[2] - 1), op.dilation.w * (w[3] - 1)};
    op.pad_before = {total.h / 2, total.w / 2};
    op.pad_after = {total.h - op.pad_before.h, total.w - op.pad_before.w};
  }
  finish(c, op, o);
}

}  // namespace deuteron::pt2
