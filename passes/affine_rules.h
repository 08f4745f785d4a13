// Rules for products and sums with constants, an element for each channel.
#pragma once
#include <span>

#include "passes/patch.h"

namespace deuteron {

// conv2d or linear -> times or plus a constant   becomes   the first with other weights. In float.
std::optional<Patch> fold_affine_into_layer(const Graph& g, const Uses& uses, NodeId root);

// x [..,c] * weight[c] + bias[c] as a depthwise convolution: the image's new type is that of x.
ValueId add_depthwise(PatchBuilder& b, ValueId x, std::vector<float> weight, std::vector<float> bias, std::string name = {});

// x * constant [c]   becomes   a depthwise 1x1 convolution, whose multipliers are exact for each channel. Once images are channels-last.
std::optional<Patch> scale_to_depthwise(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
