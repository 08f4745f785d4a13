// What imports the operators of torch: one function for each kind of operator, in the file named after its subject.
#pragma once
#include <string_view>

#include "frontends/pt2/call.h"

namespace deuteron::pt2 {

struct ImportRow {
  std::string_view target;  // "aten.conv2d.default"
  void (*import)(Call&);
  bool has_in_place_form = false;  // "aten.relu_.default" is imported by the row of "aten.relu.default"
};

// The row of an operator that runs on a portable kernel: leftovers.cpp. Null: none does.
const ImportRow* find_leftover(std::string_view target);

void import_conv2d(Call&);  // convolution.cpp
void import_conv2d_padding(Call&);
void import_convolution(Call&);
void import_conv_transpose2d(Call&);
void import_linear(Call&);  // linear.cpp
void import_addmm(Call&);
void import_mm(Call&);
void import_matmul(Call&);
void import_bmm(Call&);
void import_baddbmm(Call&);
void import_attention(Call&);   // attention.cpp
void import_batch_norm(Call&);  // batch_norm.cpp
void import_avg_pool2d(Call&);  // pooling.cpp
void import_max_pool2d(Call&);
void import_adaptive_avg_pool2d(Call&);
void import_avg_pool1d(Call&);
void import_max_pool1d(Call&);
void import_adaptive_avg_pool1d(Call&);
void import_adaptive_max_pool1d(Call&);
void import_adaptive_max_pool2d(Call&);
void import_upsample_nearest(Call&);  // resampling.cpp
void import_upsample_bilinear(Call&);
void import_reflection_pad(Call&);
void import_replication_pad(Call&);
void import_pixel_shuffle(Call&);
void import_pixel_unshuffle(Call&);
void import_channel_shuffle(Call&);
void import_mean(Call&);  // reductions.cpp
void import_sum(Call&);
void import_amax(Call&);
void import_amin(Call&);
void import_var(Call&);
void import_std(Call&);
void import_var_mean(Call&);
void import_std_mean(Call&);
void import_max_along(Call&);
void import_log_softmax(Call&);
void import_layer_norm(Call&);  // normalization.cpp
void import_rms_norm(Call&);
void import_group_norm(Call&);
void import_native_group_norm(Call&);
void import_instance_norm(Call&);
void import_prelu(Call&);
void import_relu(Call&);  // activations.cpp
void import_relu6(Call&);
void import_hardtanh(Call&);
void import_clamp(Call&);
void import_gelu(Call&);
void import_leaky_relu(Call&);
void import_elu(Call&);
void import_pow(Call&);
void import_square(Call&);
void import_softmax(Call&);
void import_glu(Call&);
void import_unary(Call&);  // the functions without parameters: the operator has the function's name
void import_add(Call&);    // arithmetic.cpp
void import_sub(Call&);
void import_rsub(Call&);
void import_mul(Call&);
void import_div(Call&);
void import_minimum(Call&);
void import_maximum(Call&);
void import_slice(Call&);  // moves.cpp
void import_narrow(Call&);
void import_select(Call&);
void import_split(Call&);
void import_chunk(Call&);
void import_unbind(Call&);
void import_cat(Call&);
void import_stack(Call&);
void import_flip(Call&);
void import_roll(Call&);
void import_repeat(Call&);
void import_index(Call&);
void import_index_select(Call&);
void import_lstm(Call&);  // recurrent.cpp
void import_gru(Call&);
void import_rnn(Call&);
void import_lstm_cell(Call&);
void import_gru_cell(Call&);
void import_rnn_cell(Call&);
void import_zeros(Call&);  // constants.cpp
void import_full(Call&);
void import_ones(Call&);
void import_like(Call&);
void import_arange(Call&);
void import_scalar_tensor(Call&);
void import_eye(Call&);
void import_linspace(Call&);
void import_window(Call&);
void import_view(Call&);  // shapes.cpp
void import_view_as(Call&);
void import_flatten(Call&);
void import_unflatten(Call&);
void import_squeeze(Call&);
void import_unsqueeze(Call&);
void import_permute(Call&);
void import_transpose(Call&);
void import_t(Call&);
void import_reverse_axes(Call&);
void import_as_strided(Call&);
void import_expand(Call&);
void import_pad(Call&);
void import_constant_pad(Call&);
void import_mish(Call&);  // compositions.cpp
void import_selu(Call&);
void import_celu(Call&);
void import_softplus(Call&);
void import_log_sigmoid(Call&);
void import_hardshrink(Call&);
void import_softshrink(Call&);
void import_threshold(Call&);
void import_rrelu(Call&);
void import_exp2(Call&);
void import_pow_of_number(Call&);
void import_deg2rad(Call&);
void import_erfc(Call&);
void import_frac(Call&);
void import_lerp(Call&);
void import_addcmul(Call&);
void import_addcdiv(Call&);
void import_hypot(Call&);
void import_logaddexp(Call&);
void import_clamp_by_tensors(Call&);
void import_rounded_div(Call&);
void import_vector_norm(Call&);  // distances.cpp
void import_cosine_similarity(Call&);
void import_pairwise_distance(Call&);
void import_cdist(Call&);
void import_logsumexp(Call&);
void import_dot(Call&);
void import_outer(Call&);
void import_weight_norm(Call&);
void import_einsum(Call&);  // einsum.cpp
void import_where(Call&);   // choices.cpp
void import_masked_fill(Call&);
void import_triangle(Call&);
void import_one_hot(Call&);
void import_movedim(Call&);  // rearrangements.cpp
void import_matrix_transpose(Call&);
void import_reshape_as_declared(Call&);
void import_expand_as(Call&);
void import_stack_of(Call&);
void import_repeat_interleave(Call&);
void import_unfold(Call&);
void import_slice_scatter(Call&);
void import_select_scatter(Call&);
void import_meshgrid(Call&);
void import_diff(Call&);
void import_leftover(Call&);  // leftovers.cpp
void import_identity(Call&);  // identities.cpp
void import_view_identity(Call&);
void import_dropout(Call&);
void import_conversion(Call&);
void import_type_as(Call&);
void import_assertion(Call&);
void import_quantize_per_tensor(Call&);  // quantization.cpp
void import_dequantize_per_tensor(Call&);
void import_dequantize_per_channel(Call&);

}  // namespace deuteron::pt2
