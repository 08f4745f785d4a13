// SPDX-License-Identifier: Apache-2.0
// Rules for products and sums with constants, an element for each channel.
#pragma once
#include <span>

#include "ir/rewrite/patch.h"
#include "ops/batch_norm/channel_line.h"

namespace deuteron {

// layer -> line   becomes   the layer with other weights, a bias, and `bounds`. Nothing, unless the
// layer (its output channels first in the weight) has neither bounds nor another reader, and weight
// and bias are float constants.
std::optional<Patch> fold_into_weights(const Graph& g, const Uses& uses, NodeId root,
                                       ValueId layer_result, const ChannelLine& line,
                                       const Bounds& bounds);

// conv2d or linear -> times or plus a constant   becomes   the first with other weights. In float.
std::optional<Patch> fold_affine_into_layer(const Graph& g, const Uses& uses, NodeId root);

// x * constant [c]   becomes   a depthwise 1x1 convolution, whose multipliers are exact for each
// channel. Once images are channels-last.
std::optional<Patch> scale_to_depthwise(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
