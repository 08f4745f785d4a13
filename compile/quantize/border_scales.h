// SPDX-License-Identifier: Apache-2.0
// Gives each channel of a float input or output a size of its own, where one scale for all would be
// too coarse for some: columns of different units, a concatenation of several kinds of numbers,
// outputs of different size.
#pragma once
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

// Inputs and outputs of the user whose numbers come and go as float; empty: none do.
struct FloatPorts {
  std::vector<bool> inputs, outputs;
};

//   x -> lines -> linear        becomes    affine(x) -> linear with other weights
//   x -> lines                  becomes    affine(x), where the lines' result is finer than the
//   steps of x x -> slices                 becomes    affine(slice), where the steps of x are
//   coarse for it layer -> slices             becomes    a layer for each slice
//   (compile/quantize/split_layers.h) x -> lines -> function      becomes    function(affine(x)) ->
//   affine, for a short input whose steps the function would show concat(a, ..) -> linear becomes
//   concat of operands of one size -> linear with other weights; float inputs and layers that make
//                                          operands get an affine and other weights, any other a
//                                          product with a number
//   linear -> y, moved about    becomes    linear with other weights -> affine, moved about in
//   float concat(a, ..) -> y          becomes    concat(affine(a), ..), in float
// Lines are sums and products with constants, also as a depthwise convolution; linear is a linear
// layer or a convolution; y is an output. Each is done where today's steps are twice as coarse as
// those of their own, measured by what they do to a result of the layer behind them. The same
// function; answers how many places were changed: their observations no longer hold. `reached`:
// what some of the samples have, which say how large each channel is; what is done where is what
// all of them say. Null: all do.
enum class Borders : u8 { all, inputs, outputs };
int scale_borders(Graph& graph, const std::vector<Observation>& observations,
                  const FloatPorts& ports, Borders which = Borders::all,
                  const std::vector<Observation>* reached = nullptr);

// By node: what stays in float, because it only moves what an affine makes to an output, or makes
// what an affine reads of an input.
std::vector<bool> border_nodes(const Graph& graph);

}  // namespace deuteron
