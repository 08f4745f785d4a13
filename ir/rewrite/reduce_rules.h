// SPDX-License-Identifier: Apache-2.0
// Reductions as the kernels of the CPU can do them, and the NPU.
#pragma once
#include "ir/rewrite/patch.h"

namespace deuteron {

// reduce   becomes   a linear layer or convolution with weights of one, or pooling. In float, once
// images are channels-last.
extern const Rule kReduceByLayers;

// The same, but what the NPU or our own kernel may take stays. What comes of reductions on the CPU
// is decided behind the partition.
extern const Rule kReduceUnlessInt8;

// avg_pool2d over whole rows or columns   becomes   a mean, in float models and where a quantized
// one gives the result parameters of its own: the pool would round to steps of its operand first,
// which are coarse beside a mean of many elements.
std::optional<Patch> pool_to_mean(const Graph& g, const Uses& uses, NodeId root);
// Refused in a float model where a convolution before it pools its results itself, as the NPU's do.
std::optional<Patch> pool_to_mean_beside_npu(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
