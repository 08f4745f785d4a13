// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/fuse_rules.h"

#include <algorithm>

#include "base/tensor/elements.h"
#include "ir/rewrite/affine_rules.h"
#include "ir/rewrite/forms.h"
#include "ir/rewrite/view_rules.h"
#include "ops/batch_norm/channel_line.h"
#include "ops/families.h"

namespace deuteron {

static Bounds narrowed(const Bounds& inner, const Bounds& outer) {
  const auto into = [&](float v) { return std::min(std::max(v, outer.low), outer.high); };
  return {into(inner.low), into(inner.high)};
}

// conv2d, linear, add, max_pool2d or clamp -> clamp   becomes   the first with those bounds
// Refused when somebody else reads the value between, or when the clamp changes quantization
// parameters.
static std::optional<Patch> fuse_clamp(const Clamp& clamp, const Graph& g, const Uses& uses,
                                       NodeId root) {
  const Node& node = g.nodes[root];
  const NodeId above = uses.producer[node.inputs[0]];
  if (above < 0 || !uses.has_single_reader(node.inputs[0]) ||
      g.type(node.inputs[0]) != g.type(node.outputs[0]))
    return std::nullopt;
  Op op = g.nodes[above].op;
  Bounds* bounds = bounds_of(op);
  if (!bounds) return std::nullopt;
  *bounds = narrowed(*bounds, clamp.bounds);
  PatchBuilder b(g, root, "fused into the operator before it");
  return b.replace_root(std::move(op), g.nodes[above].inputs);
}

// conv2d or linear -> batch_norm   becomes   conv2d or linear with other weights
// Refused when somebody else reads the value between, when the first has bounds, or when anything
// is not a float constant.
static std::optional<Patch> fold_batch_norm(const BatchNorm& batch_norm, const Graph& g,
                                            const Uses& uses, NodeId root) {
  const Node& bn = g.nodes[root];
  const NodeId above = uses.producer[bn.inputs[0]];
  if (above < 0 || !is_layer(g.nodes[above].op)) return std::nullopt;
  for (size_t k = 1; k < 5; ++k)
    if (!g.is_constant(bn.inputs[k]) || g.type(bn.inputs[k]).dtype != DType::f32)
      return std::nullopt;
  const auto floats = [&](size_t k) { return g.values[bn.inputs[k]].constant->as<float>(); };
  return fold_into_weights(g, uses, root, bn.inputs[0],
                           line_of(batch_norm, floats(1), floats(2), floats(3), floats(4)), {});
}

// layer -> reshape -> batch_norm   becomes   layer -> batch_norm -> reshape: a convolution over
// time is one of an image of one column Refused when somebody else reads a value between, or when
// the reshape changes the channels.
static std::optional<Patch> batch_norm_below_reshape(const BatchNorm& batch_norm, const Graph& g,
                                                     const Uses& uses, NodeId root) {
  const Node& bn = g.nodes[root];
  const NodeId reshape = producer_as<Reshape>(g, uses, bn.inputs[0]);
  if (reshape < 0 || !uses.has_single_reader(bn.inputs[0])) return std::nullopt;
  const ValueId x = g.nodes[reshape].inputs[0];
  const NodeId above = uses.producer[x];
  if (above < 0 || !is_layer(g.nodes[above].op) || !uses.has_single_reader(x)) return std::nullopt;
  const Type& y = g.type(bn.outputs[0]);
  if (g.type(x).rank() < 2 || y.rank() < 2 || g.type(x).shape.back() != y.shape.back())
    return std::nullopt;
  std::vector<ValueId> inputs = bn.inputs;
  inputs[0] = x;
  PatchBuilder b(g, root, "");
  const ValueId normalized = b.add(batch_norm, std::move(inputs));
  return b.replace_root(Reshape{y.shape}, {normalized});
}

// pad(0) -> conv2d   becomes   conv2d with that padding
// Refused when the pad is not over height and width alone, crops, or pads with anything but zero;
// for a 1x1 kernel, because stock firmware's ignores what the result's extents say; and when a
// window would begin where no kernel looks for one.
static std::optional<Patch> fold_pad_into_conv(const Conv2d& conv, const Graph& g, const Uses& uses,
                                               NodeId root) {
  const Node& node = g.nodes[root];
  const NodeId above = producer_as<Pad>(g, uses, node.inputs[0]);
  if (above < 0) return std::nullopt;
  const Pad& pad = std::get<Pad>(g.nodes[above].op);
  const ValueId x = g.nodes[above].inputs[0];
  const Shape& w = g.type(node.inputs[1]).shape;
  if (pad.value != 0 || w[1] * w[2] == 1 || g.type(x).quant != g.type(node.inputs[0]).quant)
    return std::nullopt;
  for (size_t k = 0; k < 4; ++k)
    if (pad.before[k] < 0 || pad.after[k] < 0 ||
        ((k == 0 || k == 3) && pad.before[k] + pad.after[k] != 0))
      return std::nullopt;
  Conv2d padded = conv;
  padded.pad_before.h += pad.before[1];
  padded.pad_before.w += pad.before[2];
  padded.pad_after.h += pad.after[1];
  padded.pad_after.w += pad.after[2];
  if (!takes_windows(padded, g.type(x).shape, w, g.type(node.outputs[0]).shape))
    return std::nullopt;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  PatchBuilder b(g, root, "folded into the convolution's padding");
  return b.replace_root(padded, std::move(inputs));
}

// pad(minus infinity) -> max_pool2d   becomes   max_pool2d with that padding
// Refused when the pad is not over height and width alone, or when the pool, which pads both sides
// alike, has no such windows.
static std::optional<Patch> fold_pad_into_max_pool(const MaxPool2d& pool, const Graph& g,
                                                   const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  const NodeId above = producer_as<Pad>(g, uses, node.inputs[0]);
  if (above < 0) return std::nullopt;
  const Pad& pad = std::get<Pad>(g.nodes[above].op);
  const ValueId x = g.nodes[above].inputs[0];
  if (!(pad.value < kMaskedBelow) || g.type(x).quant != g.type(node.inputs[0]).quant ||
      pool.pad != HW{} || pool.ceil_mode)
    return std::nullopt;
  for (const size_t k : {0, 3})
    if (pad.before[k] != 0 || pad.after[k] != 0) return std::nullopt;
  MaxPool2d padded = pool;
  padded.pad = {pad.before[1], pad.before[2]};
  padded.ceil_mode = pad.after[1] > pad.before[1] || pad.after[2] > pad.before[2];
  const Type* operand = &g.type(x);
  const auto inferred = infer(Op{padded}, TypeView({&operand, 1}));
  const bool pads =
      pad.before[1] >= 0 && pad.before[2] >= 0 && pad.after[1] >= 0 && pad.after[2] >= 0;
  if (!pads || !inferred || inferred->front().shape != g.type(node.outputs[0]).shape)
    return std::nullopt;
  PatchBuilder b(g, root, "folded into the pool's padding");
  return b.replace_root(padded, {x});
}

// reshape(pad(x)) of an image with one channel, [n,1,h,w] to [n,h,w,1]   becomes   pad(reshape(x))
static std::optional<Patch> pad_below_channel_reshape(const Reshape& reshape, const Graph& g,
                                                      const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  const NodeId above = producer_as<Pad>(g, uses, node.inputs[0]);
  if (above < 0 || !uses.has_single_reader(node.inputs[0])) return std::nullopt;
  const Pad& pad = std::get<Pad>(g.nodes[above].op);
  const Axes to_channels_last = {0, 2, 3, 1};
  const Type& x = g.type(g.nodes[above].inputs[0]);
  if (x.rank() != 4 || x.shape[1] != 1 || pad.before[1] != 0 || pad.after[1] != 0)
    return std::nullopt;
  if (reshape.shape != permuted(g.type(node.inputs[0]).shape, to_channels_last))
    return std::nullopt;
  PatchBuilder b(g, root, "");
  const ValueId moved =
      b.add(Reshape{permuted(x.shape, to_channels_last)}, {g.nodes[above].inputs[0]}, x.quant);
  return b.replace_root(
      Pad{permuted(pad.before, to_channels_last), permuted(pad.after, to_channels_last), pad.value},
      {moved});
}

const Rule kPadBelowChannelReshape = kRule<pad_below_channel_reshape>;

std::span<const Rule> fuse_rules() {
  static const Rule kRules[] = {kRule<fold_batch_norm>,
                                kRule<batch_norm_below_reshape>,
                                simpler_form,
                                kRule<fuse_clamp>,
                                kPadBelowChannelReshape,
                                kRule<fold_pad_into_conv>,
                                kRule<fold_pad_into_max_pool>,
                                kFuseFactorBehindMatmul,
                                kFuseFactorBeforeMatmul,
                                kShareRepeatedOperand};
  return kRules;
}

bool pads_with_zeros(const Op& op) {
  const Pad* pad = std::get_if<Pad>(&op);
  return pad && pad->value == 0;
}

}  // namespace deuteron
