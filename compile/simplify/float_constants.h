// SPDX-License-Identifier: Apache-2.0
// Constants behind a dequantize, as the floats that they stand for.
#pragma once
#include "ir/rewrite/patch.h"

namespace deuteron {

// The floats of a quantized constant.
ValueId float_constant(PatchBuilder& b, const GraphValue& steps);

// Whether only constants are quantized: it is a float model whose weights lie in the file as steps.
bool has_only_quantized_constants(const Graph& g);

std::optional<Patch> fold_dequantize_of_constant(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> fold_dequantize_without_kernel(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
