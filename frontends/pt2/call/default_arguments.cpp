#include "frontends/pt2/call/default_arguments.h"

#include <array>

namespace deuteron::pt2 {

// Values that torch's schemas give to arguments which the model leaves out. An argument whose default is None needs no row.
struct DefaultRow {
  std::string_view target, argument;
  Argument::Kind kind;
  double number;  // integer, real, boolean; each of two integers
  std::string_view text;
};
using K = Argument::Kind;
static constexpr auto kDefaults = std::to_array<DefaultRow>({
    {"aten.add.Scalar", "alpha", K::integer, 1, ""},
    {"aten.add.Tensor", "alpha", K::integer, 1, ""},
    {"aten.addmm.default", "alpha", K::integer, 1, ""},
    {"aten.addmm.default", "beta", K::integer, 1, ""},
    {"aten.any.dim", "keepdim", K::boolean, 0, ""},
    {"aten.arange.start_step", "step", K::integer, 1, ""},
    {"aten.argmax.default", "keepdim", K::boolean, 0, ""},
    {"aten.argmin.default", "keepdim", K::boolean, 0, ""},
    {"aten.avg_pool1d.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.avg_pool1d.default", "count_include_pad", K::boolean, 1, ""},
    {"aten.avg_pool1d.default", "padding", K::integers, 0, ""},
    {"aten.avg_pool2d.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.avg_pool2d.default", "count_include_pad", K::boolean, 1, ""},
    {"aten.avg_pool2d.default", "padding", K::integers, 0, ""},
    {"aten.baddbmm.default", "alpha", K::integer, 1, ""},
    {"aten.baddbmm.default", "beta", K::integer, 1, ""},
    {"aten.cat.default", "dim", K::integer, 0, ""},
    {"aten.chunk.default", "dim", K::integer, 0, ""},
    {"aten.concat.default", "dim", K::integer, 0, ""},
    {"aten.concatenate.default", "dim", K::integer, 0, ""},
    {"aten.constant_pad_nd.default", "value", K::integer, 0, ""},
    {"aten.conv1d.default", "dilation", K::integers, 1, ""},
    {"aten.conv1d.default", "groups", K::integer, 1, ""},
    {"aten.conv1d.default", "padding", K::integers, 0, ""},
    {"aten.conv1d.default", "stride", K::integers, 1, ""},
    {"aten.conv1d.padding", "dilation", K::integers, 1, ""},
    {"aten.conv1d.padding", "groups", K::integer, 1, ""},
    {"aten.conv1d.padding", "padding", K::text, 0, "valid"},
    {"aten.conv1d.padding", "stride", K::integers, 1, ""},
    {"aten.conv2d.default", "dilation", K::integers, 1, ""},
    {"aten.conv2d.default", "groups", K::integer, 1, ""},
    {"aten.conv2d.default", "padding", K::integers, 0, ""},
    {"aten.conv2d.default", "stride", K::integers, 1, ""},
    {"aten.conv2d.padding", "dilation", K::integers, 1, ""},
    {"aten.conv2d.padding", "groups", K::integer, 1, ""},
    {"aten.conv2d.padding", "padding", K::text, 0, "valid"},
    {"aten.conv2d.padding", "stride", K::integers, 1, ""},
    {"aten.conv3d.default", "dilation", K::integers, 1, ""},
    {"aten.conv3d.default", "groups", K::integer, 1, ""},
    {"aten.conv3d.default", "padding", K::integers, 0, ""},
    {"aten.conv3d.default", "stride", K::integers, 1, ""},
    {"aten.conv_transpose1d.default", "dilation", K::integers, 1, ""},
    {"aten.conv_transpose1d.default", "groups", K::integer, 1, ""},
    {"aten.conv_transpose1d.default", "output_padding", K::integers, 0, ""},
    {"aten.conv_transpose1d.default", "padding", K::integers, 0, ""},
    {"aten.conv_transpose1d.default", "stride", K::integers, 1, ""},
    {"aten.conv_transpose2d.input", "dilation", K::integers, 1, ""},
    {"aten.conv_transpose2d.input", "groups", K::integer, 1, ""},
    {"aten.conv_transpose2d.input", "output_padding", K::integers, 0, ""},
    {"aten.conv_transpose2d.input", "padding", K::integers, 0, ""},
    {"aten.conv_transpose2d.input", "stride", K::integers, 1, ""},
    {"aten.elu.default", "alpha", K::integer, 1, ""},
    {"aten.elu.default", "input_scale", K::integer, 1, ""},
    {"aten.elu.default", "scale", K::integer, 1, ""},
    {"aten.embedding.default", "padding_idx", K::integer, -1, ""},
    {"aten.embedding.default", "scale_grad_by_freq", K::boolean, 0, ""},
    {"aten.embedding.default", "sparse", K::boolean, 0, ""},
    {"aten.flatten.using_ints", "end_dim", K::integer, -1, ""},
    {"aten.flatten.using_ints", "start_dim", K::integer, 0, ""},
    {"aten.gelu.default", "approximate", K::text, 0, "none"},
    {"aten.glu.default", "dim", K::integer, -1, ""},
    {"aten.group_norm.default", "eps", K::real, 1e-5, ""},
    {"aten.hardtanh.default", "max_val", K::integer, 1, ""},
    {"aten.hardtanh.default", "min_val", K::integer, -1, ""},
    {"aten.layer_norm.default", "eps", K::real, 1e-5, ""},
    {"aten.leaky_relu.default", "negative_slope", K::real, 0.01, ""},
    {"aten.max.dim", "keepdim", K::boolean, 0, ""},
    {"aten.max_pool1d.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool1d.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool1d.default", "padding", K::integers, 0, ""},
    {"aten.max_pool1d_with_indices.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool1d_with_indices.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool1d_with_indices.default", "padding", K::integers, 0, ""},
    {"aten.max_pool2d.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool2d.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool2d.default", "padding", K::integers, 0, ""},
    {"aten.max_pool2d_with_indices.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool2d_with_indices.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool2d_with_indices.default", "padding", K::integers, 0, ""},
    {"aten.mean.dim", "keepdim", K::boolean, 0, ""},
    {"aten.min.dim", "keepdim", K::boolean, 0, ""},
    {"aten.pad.default", "mode", K::text, 0, "constant"},
    {"aten.prod.dim_int", "keepdim", K::boolean, 0, ""},
    {"aten.rsub.Scalar", "alpha", K::integer, 1, ""},
    {"aten.rsub.Tensor", "alpha", K::integer, 1, ""},
    {"aten.scaled_dot_product_attention.default", "dropout_p", K::integer, 0, ""},
    {"aten.scaled_dot_product_attention.default", "enable_gqa", K::boolean, 0, ""},
    {"aten.scaled_dot_product_attention.default", "is_causal", K::boolean, 0, ""},
    {"aten.slice.Tensor", "dim", K::integer, 0, ""},
    {"aten.slice.Tensor", "step", K::integer, 1, ""},
    {"aten.slice_copy.Tensor", "dim", K::integer, 0, ""},
    {"aten.slice_copy.Tensor", "step", K::integer, 1, ""},
    {"aten.softplus.default", "beta", K::integer, 1, ""},
    {"aten.softplus.default", "threshold", K::integer, 20, ""},
    {"aten.split.Tensor", "dim", K::integer, 0, ""},
    {"aten.split.sizes", "dim", K::integer, 0, ""},
    {"aten.split_with_sizes.default", "dim", K::integer, 0, ""},
    {"aten.split_with_sizes_copy.default", "dim", K::integer, 0, ""},
    {"aten.stack.default", "dim", K::integer, 0, ""},
    {"aten.sub.Scalar", "alpha", K::integer, 1, ""},
    {"aten.sub.Tensor", "alpha", K::integer, 1, ""},
    {"aten.topk.default", "dim", K::integer, -1, ""},
    {"aten.topk.default", "largest", K::boolean, 1, ""},
    {"aten.topk.default", "sorted", K::boolean, 1, ""},
    {"aten.unbind.int", "dim", K::integer, 0, ""},
    {"aten.var.correction", "keepdim", K::boolean, 0, ""},
});

std::optional<Argument> default_argument(std::string_view target, std::string_view argument) {
  for (const DefaultRow& row : kDefaults) {
    if (row.target != target || row.argument != argument) continue;
    Argument a;
    a.kind = row.kind;
    a.real = row.number;
    a.text = row.text;
    if (row.kind != K::real) a.integer = static_cast<i64>(row.number);
    if (row.kind == K::integers) a.integers = {a.integer, a.integer};
    return a;
  }
  return std::nullopt;
}

}  // namespace deuteron::pt2
