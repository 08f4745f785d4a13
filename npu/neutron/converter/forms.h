// SPDX-License-Identifier: Apache-2.0
// Brings the operators of a partition to what Neutron IR has, one builtin for each node.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "ops/attributes.h"

namespace deuteron::neutron {

// Afterwards: no padding but in Pad, no groups but depthwise, no bounds but those that a builtin
// has (activation_of), no factor in a matrix product, no zero point of its operands, no per-channel
// linear layer, no padded or cut transposed convolution. Every number is as before, bit for bit.
void to_neutron_forms(Graph& body, i64* budget);

// How Neutron IR names bounds.
enum class Activation : u8 { none, relu, relu6, relu_n1_to_1, relu_0_to_1 };

// The builtin that cuts off at exactly the steps of `bounds`; nothing when there is none.
std::optional<Activation> activation_of(const Bounds& bounds, const Quant& quant);

}  // namespace deuteron::neutron
