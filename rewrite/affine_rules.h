// Rules for products and sums with constants, an element for each channel.
#pragma once
#include <span>

#include "rewrite/patch.h"

namespace deuteron {

// y = slope * x + offset: one element each, or one for each channel.
struct ChannelLine {
  std::vector<double> slope, offset;
};

// layer -> line   becomes   the layer with other weights, a bias, and `bounds`. Nothing, unless the layer (its output channels first in the
// weight) has neither bounds nor another reader, and weight and bias are float constants.
std::optional<Patch> fold_into_weights(const Graph& g, const Uses& uses, NodeId root, ValueId layer_result, const ChannelLine& line,
                                       const Bounds& bounds);

// conv2d or linear -> times or plus a constant   becomes   the first with other weights. In float.
std::optional<Patch> fold_affine_into_layer(const Graph& g, const Uses& uses, NodeId root);

// x [..,c] * weight[c] + bias[c] as a depthwise convolution: the image's new type is that of x.
ValueId add_depthwise(PatchBuilder& b, ValueId x, std::vector<float> weight, std::vector<float> bias, std::string name = {});

// x * constant [c]   becomes   a depthwise 1x1 convolution, whose multipliers are exact for each channel. Once images are channels-last.
std::optional<Patch> scale_to_depthwise(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
