// Rules that bring int8 operators whose kernel is narrower than the operator to a form that the kernel has.
#pragma once
#include "rewrite/patch.h"

namespace deuteron {

std::optional<Patch> linear_to_conv(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> transposed_to_kernel_form(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> dilated_pool_to_gather(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> crop_to_slices(const Graph& g, const Uses& uses, NodeId root);
// Whether a kernel takes the convolution's windows along rows and columns: none begins too far behind the image.
bool takes_windows(const Conv2d& conv, const Shape& x, const Shape& w, const Shape& y);
std::optional<Patch> far_padding_to_pad(const Graph& g, const Uses& uses, NodeId root);
// Not together with rules that merge permutes: it takes them apart.
std::optional<Patch> split_permute(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
