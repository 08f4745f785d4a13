// Reductions as the dialect can do them.
#pragma once
#include "rewrite/patch.h"

namespace deuteron {

// reduce   becomes   a linear layer or convolution with weights of one, or pooling. In float, once images are channels-last.
std::optional<Patch> reduce_by_layers(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
