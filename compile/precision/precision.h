// SPDX-License-Identifier: Apache-2.0
// What --precision and --layer ask of a network: what each of its nodes works on, and what stands
// in the way.
#pragma once
#include "compile/pass.h"
#include "compile/quantize/insert_quantization.h"

namespace deuteron {

// Asked for with a model that is quantized already is an error: it keeps its own steps and weights.
void refuse_precision_of_quantized(PassContext& pass);
// Of a float graph: what cannot be done is an error (the target, other options, a name that stands
// for nothing).
void check_precision(PassContext& pass);

// Where several names stand for a node, the last one counts.
LayerPrecision precision_of(const PassContext& pass, const Graph& g, const Node& node);
// With a limit beside --precision int4: whether the search may choose it.
bool is_int4_layer(const PassContext& pass, const Graph& g, const Node& node);

// How the float graph of a compilation is quantized; `pass` must outlive it.
QuantizeOptions quantize_options(const PassContext& pass);

}  // namespace deuteron
