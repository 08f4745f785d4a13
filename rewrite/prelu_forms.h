// Rules for prelu.
#pragma once
#include "rewrite/patch.h"

namespace deuteron {

// prelu with the same slope everywhere   becomes   leaky_relu, a function of one element. In float, before quantization.
std::optional<Patch> prelu_to_leaky_relu(const Graph& g, const Uses& uses, NodeId root);

// prelu   becomes   products, clamps and sums, or the larger or smaller of x and its product: what there are kernels for.
std::optional<Patch> prelu_to_kernel_forms(const Graph& g, const Uses& uses, NodeId root);

// The same with the bits of an NPU's PRELU: both halves are products that are rounded once.
std::optional<Patch> prelu_to_npu_bits(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
