#include "frontends/pt2/import_table.h"

#include <algorithm>
#include <array>
#include <string>

namespace deuteron::pt2 {

// Sorted by target. A row works for both flavours of graph; the last column says that an in-place spelling exists.
static constexpr auto kRows = std::to_array<ImportRow>({
    {"aten._adaptive_avg_pool2d.default", import_adaptive_avg_pool2d},
    {"aten._assert_tensor_metadata.default", import_assertion},
    {"aten._log_softmax.default", import_leftover},
    {"aten._native_batch_norm_legit.default", import_batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", import_batch_norm},
    {"aten._reshape_alias.default", import_view},
    {"aten._softmax.default", import_softmax},
    {"aten._to_copy.default", import_conversion},
    {"aten._unsafe_view.default", import_view},
    {"aten.abs.default", import_unary, true},
    {"aten.adaptive_avg_pool2d.default", import_adaptive_avg_pool2d},
    {"aten.add.Scalar", import_add, true},
    {"aten.add.Tensor", import_add, true},
    {"aten.addmm.default", import_addmm},
    {"aten.alias.default", import_view_identity},
    {"aten.alpha_dropout.default", import_dropout, true},
    {"aten.argmax.default", import_leftover},
    {"aten.as_strided.default", import_as_strided},
    {"aten.avg_pool2d.default", import_avg_pool2d},
    {"aten.baddbmm.default", import_baddbmm},
    {"aten.batch_norm.default", import_batch_norm},
    {"aten.bmm.default", import_bmm},
    {"aten.cat.default", import_cat},
    {"aten.chunk.default", import_chunk},
    {"aten.clamp.default", import_clamp, true},
    {"aten.clamp_max.default", import_clamp, true},
    {"aten.clamp_min.default", import_clamp, true},
    {"aten.clip.default", import_clamp, true},
    {"aten.clone.default", import_identity},
    {"aten.concat.default", import_cat},
    {"aten.concatenate.default", import_cat},
    {"aten.constant_pad_nd.default", import_constant_pad},
    {"aten.contiguous.default", import_view_identity},
    {"aten.conv2d.default", import_conv2d},
    {"aten.conv2d.padding", import_conv2d_padding},
    {"aten.convolution.default", import_convolution},
    {"aten.cos.default", import_unary, true},
    {"aten.detach.default", import_view_identity, true},
    {"aten.div.Scalar", import_div, true},
    {"aten.div.Tensor", import_div, true},
    {"aten.dropout.default", import_dropout, true},
    {"aten.elu.default", import_elu, true},
    {"aten.exp.default", import_unary, true},
    {"aten.expand.default", import_expand},
    {"aten.feature_dropout.default", import_dropout, true},
    {"aten.flatten.using_ints", import_flatten},
    {"aten.flip.default", import_flip},
    {"aten.floor.default", import_unary, true},
    {"aten.fmod.Scalar", import_leftover},
    {"aten.gelu.default", import_gelu, true},
    {"aten.gt.Scalar", import_leftover},
    {"aten.hardsigmoid.default", import_unary, true},
    {"aten.hardswish.default", import_unary, true},
    {"aten.hardtanh.default", import_hardtanh, true},
    {"aten.index.Tensor", import_index},
    {"aten.index_select.default", import_index_select},
    {"aten.leaky_relu.default", import_leaky_relu, true},
    {"aten.lift_fresh.default", import_view_identity},
    {"aten.lift_fresh_copy.default", import_identity},
    {"aten.linear.default", import_linear},
    {"aten.log.default", import_unary, true},
    {"aten.log1p.default", import_leftover},
    {"aten.log_softmax.int", import_leftover},
    {"aten.matmul.default", import_matmul},
    {"aten.max_pool2d.default", import_max_pool2d},
    {"aten.max_pool2d_with_indices.default", import_max_pool2d},
    {"aten.mean.dim", import_mean},
    {"aten.mm.default", import_mm},
    {"aten.mul.Scalar", import_mul, true},
    {"aten.mul.Tensor", import_mul, true},
    {"aten.narrow.default", import_narrow},
    {"aten.narrow_copy.default", import_narrow},
    {"aten.native_dropout.default", import_dropout},
    {"aten.neg.default", import_unary, true},
    {"aten.numpy_T.default", import_reverse_axes},
    {"aten.pad.default", import_pad},
    {"aten.permute.default", import_permute},
    {"aten.pow.Tensor_Scalar", import_pow, true},
    {"aten.reciprocal.default", import_unary, true},
    {"aten.relu.default", import_relu, true},
    {"aten.relu6.default", import_relu6, true},
    {"aten.repeat.default", import_repeat},
    {"aten.reshape.default", import_view},
    {"aten.roll.default", import_roll},
    {"aten.round.default", import_unary, true},
    {"aten.rsqrt.default", import_unary, true},
    {"aten.rsub.Scalar", import_rsub},
    {"aten.rsub.Tensor", import_rsub},
    {"aten.scaled_dot_product_attention.default", import_attention},
    {"aten.select.int", import_select},
    {"aten.select_copy.int", import_select},
    {"aten.sigmoid.default", import_unary, true},
    {"aten.silu.default", import_unary, true},
    {"aten.sin.default", import_unary, true},
    {"aten.slice.Tensor", import_slice},
    {"aten.slice_copy.Tensor", import_slice},
    {"aten.softmax.int", import_softmax},
    {"aten.softplus.default", import_softplus},
    {"aten.split.Tensor", import_split},
    {"aten.split.sizes", import_split},
    {"aten.split_with_sizes.default", import_split},
    {"aten.split_with_sizes_copy.default", import_split},
    {"aten.sqrt.default", import_unary, true},
    {"aten.square.default", import_square, true},
    {"aten.squeeze.default", import_squeeze},
    {"aten.squeeze.dim", import_squeeze},
    {"aten.squeeze.dims", import_squeeze},
    {"aten.stack.default", import_stack},
    {"aten.sub.Scalar", import_sub, true},
    {"aten.sub.Tensor", import_sub, true},
    {"aten.swapaxes.default", import_transpose},
    {"aten.t.default", import_t},
    {"aten.tanh.default", import_unary, true},
    {"aten.to.dtype", import_conversion},
    {"aten.to.dtype_layout", import_conversion},
    {"aten.transpose.int", import_transpose},
    {"aten.unbind.int", import_unbind},
    {"aten.unflatten.int", import_unflatten},
    {"aten.unsqueeze.default", import_unsqueeze},
    {"aten.upsample_bilinear2d.vec", import_leftover},
    {"aten.var.correction", import_leftover},
    {"aten.view.default", import_view},
    {"aten.view_as.default", import_view_as},
    {"aten.where.self", import_leftover},
    {"quantized_decomposed.dequantize_per_channel.default", import_dequantize_per_channel},
    {"quantized_decomposed.dequantize_per_tensor.default", import_dequantize_per_tensor},
    {"quantized_decomposed.quantize_per_tensor.default", import_quantize_per_tensor},
});
static_assert(std::is_sorted(kRows.begin(), kRows.end(), [](const ImportRow& a, const ImportRow& b) { return a.target < b.target; }));

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
    {"aten.argmax.default", "keepdim", K::boolean, 0, ""},
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
    {"aten.conv2d.default", "dilation", K::integers, 1, ""},
    {"aten.conv2d.default", "groups", K::integer, 1, ""},
    {"aten.conv2d.default", "padding", K::integers, 0, ""},
    {"aten.conv2d.default", "stride", K::integers, 1, ""},
    {"aten.conv2d.padding", "dilation", K::integers, 1, ""},
    {"aten.conv2d.padding", "groups", K::integer, 1, ""},
    {"aten.conv2d.padding", "padding", K::text, 0, "valid"},
    {"aten.conv2d.padding", "stride", K::integers, 1, ""},
    {"aten.elu.default", "alpha", K::integer, 1, ""},
    {"aten.elu.default", "input_scale", K::integer, 1, ""},
    {"aten.elu.default", "scale", K::integer, 1, ""},
    {"aten.flatten.using_ints", "end_dim", K::integer, -1, ""},
    {"aten.flatten.using_ints", "start_dim", K::integer, 0, ""},
    {"aten.gelu.default", "approximate", K::text, 0, "none"},
    {"aten.hardtanh.default", "max_val", K::integer, 1, ""},
    {"aten.hardtanh.default", "min_val", K::integer, -1, ""},
    {"aten.leaky_relu.default", "negative_slope", K::real, 0.01, ""},
    {"aten.max_pool2d.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool2d.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool2d.default", "padding", K::integers, 0, ""},
    {"aten.max_pool2d_with_indices.default", "ceil_mode", K::boolean, 0, ""},
    {"aten.max_pool2d_with_indices.default", "dilation", K::integers, 1, ""},
    {"aten.max_pool2d_with_indices.default", "padding", K::integers, 0, ""},
    {"aten.mean.dim", "keepdim", K::boolean, 0, ""},
    {"aten.pad.default", "mode", K::text, 0, "constant"},
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
    {"aten.unbind.int", "dim", K::integer, 0, ""},
    {"aten.var.correction", "keepdim", K::boolean, 0, ""},
});

static const ImportRow* find_row(std::string_view target) {
  const auto it =
      std::lower_bound(kRows.begin(), kRows.end(), target, [](const ImportRow& row, std::string_view t) { return row.target < t; });
  return it != kRows.end() && it->target == target ? &*it : nullptr;
}

FoundRow find_import(std::string_view target) {
  if (const ImportRow* row = find_row(target)) return {row, false};
  const size_t overload = target.rfind('.');
  if (overload == std::string_view::npos || overload == 0 || target[overload - 1] != '_') return {};
  const ImportRow* row = find_row(std::string(target.substr(0, overload - 1)).append(target.substr(overload)));
  return row && row->has_in_place_form ? FoundRow{row, true} : FoundRow{};
}

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
