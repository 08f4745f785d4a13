// SPDX-License-Identifier: Apache-2.0
// An average over a whole image as depthwise convolutions.
//   x [n,h,w,c] -> avg_pool2d -> y [n,1,1,c]   becomes   x -> conv2d 1xw -> conv2d hx1 -> y
// The kernel of average pooling keeps its operand's scale, but means are much smaller than the
// largest pixel: they get few of the 256 steps. A convolution's result has a scale of its own. It
// costs (h + w) * c bytes of weights, and one call more.
#pragma once
#include <functional>

#include "ir/graph.h"

namespace deuteron {

// Of the averages that `allowed` says yes to. How many there were.
int means_to_convolutions(Graph& graph,
                          const std::function<bool(const Graph&, const Node&)>& allowed);

}  // namespace deuteron
