// SPDX-License-Identifier: Apache-2.0
// The part of scale_borders() for what layers read that is put together of numbers of different
// size (compile/quantize/border_scales.h).
#pragma once
#include "compile/quantize/border_scales.h"
#include "compile/quantize/channel_sizes.h"

namespace deuteron {

//   concat(a, ..) -> f -> layer     becomes     concat of operands of one size -> f -> layer with
//   other weights
// f is a sum or a product with such a value or a constant, a relu, a pool or a view: a size for
// each channel goes through all of them. Float inputs and what may be float get an affine, layers
// other weights, any other operand a product with a number. Answers how many values changed. Values
// that are no longer used are left.
int size_operands(Graph& graph, const SeenRanges& seen, const FloatPorts& ports);

//   concat(a, ..) -> f -> output    becomes     concat(affine(a), ..) -> f -> output, in float
// f is a sum with such a value or a constant, a product with one, or a move.
int put_together_in_float(Graph& graph, const SeenRanges& seen, const FloatPorts& ports);

}  // namespace deuteron
