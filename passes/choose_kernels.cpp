// Brings int8 operators to the forms that the dialect has a kernel for.
#include "passes/pass.h"
#include "quantize/recurrent.h"
#include "rewrite/broadcast_rules.h"
#include "rewrite/fuse_rules.h"
#include "rewrite/kernel_forms.h"
#include "rewrite/pointwise_rules.h"
#include "rewrite/prelu_forms.h"
#include "rewrite/reduce_rules.h"
#include "rewrite/resize_forms.h"
#include "rewrite/view_rules.h"

namespace deuteron {

// linear with an asymmetric weight and neither bias nor bounds   becomes   a matrix product, which has an offset for both sides
static std::optional<Patch> linear_to_matmul(const Graph& g, const Uses&, NodeId root) {
  const Linear* linear = op_as<Linear>(g, root);
  if (!linear || !linear->bounds.none() || g.nodes[root].inputs.size() > 2) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || w.quant.per_channel() || w.quant.empty() || w.quant.zero_point[0] == 0) return std::nullopt;
  const i64 in = w.shape[1], out = w.shape[0], rows = x.elements() / in;
  PatchBuilder b(g, root, "");
  const ValueId left = b.add(Reshape{{1, rows, in}}, {node.inputs[0]}, x.quant);
  const ValueId right = b.add(Reshape{{1, out, in}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  const ValueId product = b.add(Matmul{}, {left, right}, y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {product});
}

static bool is_int8(const Graph& g, const Node& node) { return g.type(node.inputs[0]).dtype == DType::s8; }

// A convolution over one row of pixels   becomes   one over one column: the same bytes, and not the row-wise kernel that stock MVE firmware
// would take, which gives wrong numbers for many strides and paddings. docs/decisions/004-uneven-padding.md
static std::optional<Patch> row_to_column(const Graph& g, const Uses&, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv || !is_int8(g, g.nodes[root])) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.shape[1] != 1 || x.shape[2] == 1 || w.shape[1] != 1 || y.shape[1] != 1) return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = b.add(Reshape{{x.shape[0], x.shape[2], 1, x.shape[3]}}, {node.inputs[0]}, x.quant);
  inputs[1] = b.add(Reshape{{w.shape[0], w.shape[2], 1, w.shape[3]}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  Conv2d column = *conv;
  for (HW* hw : {&column.stride, &column.pad_before, &column.pad_after, &column.dilation}) std::swap(hw->h, hw->w);
  const ValueId pixels = b.add(column, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {pixels});
}

// depthwise 3x3 with a window that begins in the last column   becomes   depthwise 3x4 with a column of zeros
// The stock kernel for 3x3 (scalar and DSP) reads past the row there; the general one does not. docs/decisions/004-uneven-padding.md
static std::optional<Patch> widen_depthwise(const Graph& g, const Uses&, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv || !is_int8(g, g.nodes[root])) return std::nullopt;
  const Node& node = g.nodes[root];
  const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
  const GraphValue& weight = g.values[node.inputs[1]];
  const Shape& w = weight.type.shape;
  const bool three = w[1] == 3 && w[2] == 3 && conv->dilation == HW{1, 1} && conv->pad_before.h <= 1 && conv->pad_before.w <= 1;
  if (!three || conv->groups != x[3] || w[0] != x[3] || x[0] != 1 || !weight.constant) return std::nullopt;
  if ((y[2] - 1) * conv->stride.w - conv->pad_before.w < x[2] - 1) return std::nullopt;
  const std::span<const int8_t> from = weight.constant->as<int8_t>();
  std::vector<int8_t> to;
  for (size_t k = 0; k < from.size(); k += 3) to.insert(to.end(), {from[k], from[k + 1], from[k + 2], 0});
  Conv2d wide = *conv;
  wide.pad_after.w += 1;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = b.constant(Type{DType::s8, {w[0], 3, 4, 1}, weight.type.quant}, constant_of(std::move(to)), weight.name);
  return b.replace_root(wide, std::move(inputs));
}

void choose_kernels(PassContext& pass) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), fuse_rules().begin(), fuse_rules().end());
  rules.insert(rules.end(), recurrent_rules().begin(), recurrent_rules().end());
  rules.push_back(linear_to_conv);
  rules.push_back(linear_to_matmul);
  rules.push_back(transposed_to_kernel_form);
  rules.push_back(int8_reduce_to_kernel_form);
  rules.push_back(dilated_pool_to_gather);
  rules.push_back(crop_to_slices);
  rules.push_back(far_padding_to_pad);
  rules.insert(rules.end(), resize_rules().begin(), resize_rules().end());
  if (pass.target.npu) rules.push_back(prelu_to_npu_bits);
  rules.push_back(prelu_to_kernel_forms);
  rules.insert(rules.end(), broadcast_rules().begin(), broadcast_rules().end());
  rules.push_back(split_float_pointwise);
  rules.push_back(pass.target.isa == Isa::mve ? row_to_column : widen_depthwise);
  rewrite(pass.graph, rules, pass.rewrites_left);
  static constexpr Rule kLast[] = {split_permute};
  rewrite(pass.graph, kLast, pass.rewrites_left);
}

}  // namespace deuteron
