#include "rewrite/fuse_rules.h"

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "rewrite/affine_rules.h"
#include "rewrite/kernel_forms.h"
#include "rewrite/pointwise_rules.h"
#include "rewrite/view_rules.h"

namespace deuteron {

static Bounds narrowed(const Bounds& inner, const Bounds& outer) {
  const auto into = [&](float v) { return std::min(std::max(v, outer.low), outer.high); };
  return {into(inner.low), into(inner.high)};
}

// conv2d, linear, add, max_pool2d or clamp -> clamp   becomes   the first with those bounds
// Refused when somebody else reads the value between, or when the clamp changes quantization parameters.
static std::optional<Patch> fuse_clamp(const Graph& g, const Uses& uses, NodeId root) {
  const Clamp* clamp = op_as<Clamp>(g, root);
  if (!clamp) return std::nullopt;
  const Node& node = g.nodes[root];
  const NodeId above = uses.producer[node.inputs[0]];
  if (above < 0 || !uses.has_single_reader(node.inputs[0]) || g.type(node.inputs[0]) != g.type(node.outputs[0])) return std::nullopt;
  Op op = g.nodes[above].op;
  Bounds* bounds = bounds_of(op);
  if (!bounds) return std::nullopt;
  *bounds = narrowed(*bounds, clamp->bounds);
  PatchBuilder b(g, root, "fused into the operator before it");
  return b.replace_root(std::move(op), g.nodes[above].inputs);
}

// slope[c] = weight / sqrt(variance + epsilon), offset[c] = bias - mean * slope
static std::optional<ChannelLine> batch_norm_line(const Graph& g, const Node& bn) {
  for (size_t k = 1; k < 5; ++k)
    if (!g.is_constant(bn.inputs[k]) || g.type(bn.inputs[k]).dtype != DType::f32) return std::nullopt;
  const auto floats = [&](size_t k) { return g.values[bn.inputs[k]].constant->as<float>(); };
  const double epsilon = std::get<BatchNorm>(bn.op).epsilon;
  ChannelLine a;
  for (size_t c = 0; c < floats(1).size(); ++c) {
    a.slope.push_back(floats(1)[c] / std::sqrt(floats(4)[c] + epsilon));
    a.offset.push_back(floats(2)[c] - floats(3)[c] * a.slope[c]);
  }
  return a;
}

// conv2d or linear -> batch_norm   becomes   conv2d or linear with other weights
// Refused when somebody else reads the value between, when the first has bounds, or when anything is not a float constant.
static std::optional<Patch> fold_batch_norm(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<BatchNorm>(g, root)) return std::nullopt;
  const Node& bn = g.nodes[root];
  const NodeId above = uses.producer[bn.inputs[0]];
  if (!op_as<Conv2d>(g, above) && !op_as<ConvTranspose2d>(g, above) && !op_as<Linear>(g, above)) return std::nullopt;
  const std::optional<ChannelLine> line = batch_norm_line(g, bn);
  return line ? fold_into_weights(g, uses, root, bn.inputs[0], *line, {}) : std::nullopt;
}

// batch_norm with nothing to fold into   becomes   a depthwise 1x1 convolution
static std::optional<Patch> batch_norm_to_depthwise(const Graph& g, const Uses&, NodeId root) {
  if (!op_as<BatchNorm>(g, root)) return std::nullopt;
  const Node& bn = g.nodes[root];
  const std::optional<ChannelLine> line = batch_norm_line(g, bn);
  if (!line) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(
      add_depthwise(b, bn.inputs[0], {line->slope.begin(), line->slope.end()}, {line->offset.begin(), line->offset.end()}));
}

// pad(0) -> conv2d   becomes   conv2d with that padding
// Refused when the pad is not over height and width alone, crops, or pads with anything but zero; for a 1x1 kernel, because stock
// firmware's ignores what the result's extents say; and when a window would begin where no kernel looks for one.
static std::optional<Patch> fold_pad_into_conv(const Graph& g, const Uses& uses, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv) return std::nullopt;
  const Node& node = g.nodes[root];
  const NodeId above = producer_as<Pad>(g, uses, node.inputs[0]);
  if (above < 0) return std::nullopt;
  const Pad& pad = std::get<Pad>(g.nodes[above].op);
  const ValueId x = g.nodes[above].inputs[0];
  const Shape& w = g.type(node.inputs[1]).shape;
  if (pad.value != 0 || w[1] * w[2] == 1 || g.type(x).quant != g.type(node.inputs[0]).quant) return std::nullopt;
  for (size_t k = 0; k < 4; ++k)
    if (pad.before[k] < 0 || pad.after[k] < 0 || ((k == 0 || k == 3) && pad.before[k] + pad.after[k] != 0)) return std::nullopt;
  Conv2d padded = *conv;
  padded.pad_before.h += pad.before[1];
  padded.pad_before.w += pad.before[2];
  padded.pad_after.h += pad.after[1];
  padded.pad_after.w += pad.after[2];
  if (!takes_windows(padded, g.type(x).shape, w, g.type(node.outputs[0]).shape)) return std::nullopt;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  PatchBuilder b(g, root, "folded into the convolution's padding");
  return b.replace_root(padded, std::move(inputs));
}

// reshape(pad(x)) of an image with one channel, [n,1,h,w] to [n,h,w,1]   becomes   pad(reshape(x))
std::optional<Patch> pad_below_channel_reshape(const Graph& g, const Uses& uses, NodeId root) {
  const Reshape* reshape = op_as<Reshape>(g, root);
  if (!reshape) return std::nullopt;
  const Node& node = g.nodes[root];
  const NodeId above = producer_as<Pad>(g, uses, node.inputs[0]);
  if (above < 0 || !uses.has_single_reader(node.inputs[0])) return std::nullopt;
  const Pad& pad = std::get<Pad>(g.nodes[above].op);
  const Axes to_channels_last = {0, 2, 3, 1};
  const Type& x = g.type(g.nodes[above].inputs[0]);
  if (x.rank() != 4 || x.shape[1] != 1 || pad.before[1] != 0 || pad.after[1] != 0) return std::nullopt;
  if (reshape->shape != permuted(g.type(node.inputs[0]).shape, to_channels_last)) return std::nullopt;
  PatchBuilder b(g, root, "");
  const ValueId moved = b.add(Reshape{permuted(x.shape, to_channels_last)}, {g.nodes[above].inputs[0]}, x.quant);
  return b.replace_root(Pad{permuted(pad.before, to_channels_last), permuted(pad.after, to_channels_last), pad.value}, {moved});
}

// avg_pool2d that counts its padding   becomes   pad(0) -> avg_pool2d without padding
// With ceil_mode the last window may hang over the padding's end, where both are cut; one that would begin in the padding is not wanted.
static std::optional<Patch> split_counted_padding(const Graph& g, const Uses&, NodeId root) {
  const AvgPool2d* pool = op_as<AvgPool2d>(g, root);
  if (!pool || !pool->count_include_pad || pool->divisor != 0 || (pool->pad.h == 0 && pool->pad.w == 0)) return std::nullopt;
  const Node& node = g.nodes[root];
  PatchBuilder b(g, root, "");
  const Axes around = {0, pool->pad.h, pool->pad.w, 0};
  const ValueId padded =
      b.add(Pad{around, around, 0}, {node.inputs[0]}, g.type(node.inputs[0]).quant, g.values[node.inputs[0]].name + ".padded");
  AvgPool2d plain = *pool;
  plain.pad = {};
  const Type& y = g.type(node.outputs[0]);
  ValueId v = b.add(plain, {padded}, y.quant, g.values[node.outputs[0]].name);
  for (const i64 axis : {1, 2})
    if (b.type(v).shape[axis] != y.shape[axis]) v = b.add(Slice{axis, 0, y.shape[axis], 1}, {v}, y.quant);
  return b.replace_root(v);
}

// avg_pool2d with a divisor of its own   becomes   a depthwise convolution with weights 1/divisor, to which padding adds nothing
// Refused in quantized models, where the weight would have no quantization.
static std::optional<Patch> divided_pool_to_depthwise(const Graph& g, const Uses& uses, NodeId root) {
  const AvgPool2d* pool = op_as<AvgPool2d>(g, root);
  if (!pool || pool->divisor == 0) return std::nullopt;
  const Node& node = g.nodes[root];
  const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
  if (g.type(node.inputs[0]).dtype != DType::f32 || producer_as<Dequantize>(g, uses, node.inputs[0]) >= 0) return std::nullopt;
  const auto behind = [](i64 extent, i64 out, i64 kernel, i64 stride, i64 pad) {
    return std::max<i64>(0, (out - 1) * stride + kernel - extent - pad);
  };
  Conv2d conv;
  conv.groups = x[3];
  conv.stride = pool->stride;
  conv.pad_before = pool->pad;
  conv.pad_after = {behind(x[1], y[1], pool->kernel.h, pool->stride.h, pool->pad.h),
                    behind(x[2], y[2], pool->kernel.w, pool->stride.w, pool->pad.w)};
  const i64 taps = x[3] * pool->kernel.h * pool->kernel.w;
  PatchBuilder b(g, root, "");
  std::vector<float> share(static_cast<size_t>(taps), 1.0f / static_cast<float>(pool->divisor));
  const ValueId weight = b.constant(DType::f32, {x[3], pool->kernel.h, pool->kernel.w, 1}, std::move(share));
  const ValueId v = b.add(conv, {node.inputs[0], weight}, {}, g.values[node.outputs[0]].name);
  if (b.type(v).shape != y) return std::nullopt;
  return b.replace_root(v);
}

std::span<const Rule> fuse_rules() {
  static constexpr Rule kRules[] = {fold_batch_norm,           batch_norm_to_depthwise,   fuse_clamp,
                                    pad_below_channel_reshape, fold_pad_into_conv,        split_counted_padding,
                                    divided_pool_to_depthwise, fuse_factor_behind_matmul, fuse_factor_before_matmul};
  return kRules;
}

}  // namespace deuteron
