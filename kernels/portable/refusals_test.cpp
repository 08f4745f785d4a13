// SPDX-License-Identifier: Apache-2.0
// The portable kernels keep to their tensors whatever their arguments, and refuse what is recorded
// (kernels/common/test_spoiled_calls.h).
#include <algorithm>
#include <span>

#include "kernels/common/test_spoiled_calls.h"
#include "runtime/deuteron.h"

namespace deuteron {
namespace refusals_test {

struct Template {
  const char *name, *arguments;
};
const Template kTemplates[] = {
    {"aten::_adaptive_avg_pool2d.out", "xf:2,3,7,9 l:3,4 xf:2,3,3,4"},
    {"aten::_log_softmax.out", "xf:2,3,4 i:-1 b:0 xf:2,3,4"},
    {"aten::_softmax.out", "xf:2,3,4 i:1 b:0 xf:2,3,4"},
    {"aten::_to_copy.out", "xf:2,3,4 b:0 n x32:2,3,4"},
    {"aten::abs.out", "xf:2,3,4:201 xf:2,3,4"},
    {"aten::add.out", "xf:2,3,4 xf:3,1 f:1 xf:2,3,4"},
    {"aten::addmm.out", "xf:4 xf:3,5 xf:5,4 f:1 f:1 xf:3,4"},
    {"aten::amax.out", "xf:2,3,4 l:1 b:1 xf:2,1,4"},
    {"aten::any.dims_out", "xb:2,3,4 l:0,2 b:0 xb:3"},
    {"aten::any.out", "xb:2,3,4 i:1 b:0 xb:2,4"},
    {"aten::arange.out", "f:5 xf:5"},
    {"aten::arange.start_out", "f:1 f:6 f:1 xf:5"},
    {"aten::argmax.out", "xf:2,3,4 i:1 b:0 x64:2,4"},
    {"aten::avg_pool2d.out", "xf:2,3,7,9 l:3,3 l:2,2 l:1,1 b:0 b:1 n xf:2,3,4,5"},
    {"aten::bitwise_and.Tensor_out", "x32:2,3 x32:3 x32:2,3"},
    {"aten::bmm.out", "xf:2,3,5 xf:2,5,4 xf:2,3,4"},
    {"aten::clamp.out", "xf:2,3 f:-1 f:1 xf:2,3"},
    {"aten::clamp.out", "x64:2,3 i:-1 i:1 x64:2,3"},
    {"aten::clone.out", "xf:2,3,4 n xf:2,3,4"},
    {"aten::constant_pad_nd.out", "xf:2,3,4 l:1,0,0,2 f:3 xf:2,5,5"},
    {"aten::convolution.out",
     "xf:1,4,6,5 xf:6,2,3,3 xf:6 l:1,1 l:1,1 l:1,1 b:0 l:0,0 i:2 xf:1,6,6,5"},
    {"aten::copy_", "xf:2,3 xf:2,3 b:0"},
    {"aten::cumsum.out", "xf:2,3,4 i:1 n xf:2,3,4"},
    {"aten::diagonal_copy.out", "xf:3,4,2 i:1 i:0 i:1 xf:2,3"},
    {"aten::div.out", "xf:2,3,4 xf:3,1 xf:2,3,4"},
    {"aten::elu.out", "xf:2,3 f:1 f:1 f:1 xf:2,3"},
    {"aten::embedding.out", "xf:5,3 x64:2,2 i:-1 b:0 b:0 xf:2,2,3"},
    {"aten::eq.Tensor_out", "x32:2,3 x32:3 xb:2,3"},
    {"aten::expand_copy.out", "xf:3,1 l:2,3,4 b:0 xf:2,3,4"},
    {"aten::fill.Scalar_out", "xf:2,3 f:4 xf:2,3"},
    {"aten::flip.out", "xf:2,3,4 l:0,2 xf:2,3,4"},
    {"aten::full.out", "l:2,3 f:4 xf:2,3"},
    {"aten::full_like.out", "xf:2,3 f:4 n xf:2,3"},
    {"aten::gather.out", "xf:2,3,4 i:1 x64:2,1,4 b:0 xf:2,1,4"},
    {"aten::glu.out", "xf:2,6 i:1 xf:2,3"},
    {"aten::hardtanh.out", "xf:2,3 f:-1 f:1 xf:2,3"},
    {"aten::index_select.out", "xf:2,3,4 i:1 x64:5 xf:2,5,4"},
    {"aten::leaky_relu.out", "xf:2,3 f:0.1 xf:2,3"},
    {"aten::linear.out", "xf:3,5 xf:4,5 xf:4 xf:3,4"},
    {"aten::logical_and.out", "xb:2,3 xb:3 xb:2,3"},
    {"aten::logit.out", "xf:2,3 f:0.1 xf:2,3"},
    {"aten::masked_fill.Scalar_out", "xf:2,3 xb:3 f:1 xf:2,3"},
    {"aten::max.dim_max", "xf:2,3,4 i:1 b:0 xf:2,4 x64:2,4"},
    {"aten::max_pool2d_with_indices.out",
     "xf:2,3,7,9 l:3,3 l:2,2 l:1,1 l:1,1 b:0 xf:2,3,4,5 x64:2,3,4,5"},
    {"aten::mean.dtype_out", "xf:2,3 n xf:"},
    {"aten::mean.out", "xf:2,3,4 l:1 b:1 n xf:2,1,4"},
    {"aten::mm.out", "xf:3,5 xf:5,4 xf:3,4"},
    {"aten::mul.out", "x32:2,3,4 x32:3,1 x32:2,3,4"},
    {"aten::native_group_norm.out",
     "xf:2,4,3 xf:4 xf:4 i:2 i:4 i:3 i:2 f:0.001 xf:2,4,3 xf:2,2 xf:2,2"},
    {"aten::native_layer_norm.out", "xf:2,3,4 l:4 xf:4 xf:4 f:0.001 xf:2,3,4 xf:2,3,1 xf:2,3,1"},
    {"aten::permute_copy.out", "xf:2,3,4 l:2,0,1 xf:4,2,3"},
    {"aten::pixel_shuffle.out", "xf:2,8,3,4 i:2 xf:2,2,6,8"},
    {"aten::pixel_unshuffle.out", "xf:2,2,6,8 i:2 xf:2,8,3,4"},
    {"aten::pow.Tensor_Tensor_out", "xf:2,3 xf:3 xf:2,3"},
    {"aten::prod.int_out", "xf:2,3,4 i:1 b:0 n xf:2,4"},
    {"aten::reflection_pad1d.out", "xf:2,3,4 l:1,2 xf:2,3,7"},
    {"aten::reflection_pad2d.out", "xf:2,3,4 l:1,2,0,1 xf:2,4,7"},
    {"aten::reflection_pad3d.out", "xf:2,3,4,5 l:1,2,0,1,1,0 xf:2,4,5,8"},
    {"aten::repeat.out", "xf:2,3 l:2,1,3 xf:2,2,9"},
    {"aten::replication_pad1d.out", "xf:2,3,4 l:1,2 xf:2,3,7"},
    {"aten::replication_pad2d.out", "xf:2,3,4 l:1,2,0,1 xf:2,4,7"},
    {"aten::replication_pad3d.out", "xf:2,3,4,5 l:1,2,0,1,1,0 xf:2,4,5,8"},
    {"aten::roll.out", "xf:2,3,4 l:1,2 l:0,2 xf:2,3,4"},
    {"aten::scatter.src_out", "xf:2,3,4 i:1 x64:2,1,4 xf:2,1,4 xf:2,3,4"},
    {"aten::scatter_add.out", "xf:2,3,4 i:1 x64:2,1,4 xf:2,1,4 xf:2,3,4"},
    {"aten::select_copy.int_out", "xf:2,3,4 i:1 i:2 xf:2,4"},
    {"aten::select_scatter.out", "xf:2,3,4 xf:2,4 i:1 i:2 xf:2,3,4"},
    {"aten::slice_copy.Tensor_out", "xf:2,5,4 i:1 i:1 i:5 i:2 xf:2,2,4"},
    {"aten::slice_scatter.out", "xf:2,5,4 xf:2,2,4 i:1 i:1 i:5 i:2 xf:2,5,4"},
    {"aten::squeeze_copy.dim_out", "xf:2,1,3 i:1 xf:2,3"},
    {"aten::squeeze_copy.dims_out", "xf:2,1,3,1 l:1,3 xf:2,3"},
    {"aten::sub.out", "xf:2,3,4 xf:3,1 f:2 xf:2,3,4"},
    {"aten::sum.IntList_out", "xf:2,3,4 l:1 b:1 n xf:2,1,4"},
    {"aten::t_copy.out", "xf:2,3 xf:3,2"},
    {"aten::topk.values", "xf:2,5 i:2 i:1 b:1 b:1 xf:2,2 x64:2,2"},
    {"aten::transpose_copy.int_out", "xf:2,3,4 i:0 i:2 xf:4,3,2"},
    {"aten::unfold_copy.out", "xf:2,7,3 i:1 i:3 i:2 xf:2,3,3,3"},
    {"aten::unsqueeze_copy.out", "xf:2,3 i:1 xf:2,1,3"},
    {"aten::upsample_bilinear2d.vec_out", "xf:1,2,3,4 l:6,8 b:0 n xf:1,2,6,8"},
    {"aten::upsample_nearest2d.vec_out", "xf:1,2,3,4 l:6,8 n xf:1,2,6,8"},
    {"aten::view_copy.out", "xf:2,6 l:3,4 xf:3,4"},
    {"aten::where.self_out", "xb:2,3 xf:3 xf:2,1 xf:2,3"},
    {"aten::zeros.out", "l:2,3 xf:2,3"},
};

TEST(PortableKernels, StayInsideTheirTensorsWhateverTheArguments) {
  for (const Template& t : kTemplates) {
    const auto kernels = std::span(kAllKernels.kernels, static_cast<size_t>(kAllKernels.count));
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* k) {
      return std::string(k->name) == t.name;
    });
    ASSERT_NE(kernel, kernels.end()) << t.name;
    expect_inside(**kernel, t.arguments);
  }
}

}  // namespace refusals_test
}  // namespace deuteron
