// SPDX-License-Identifier: Apache-2.0
// What the passes must know of recurrent layers.
#pragma once
#include "base/diagnostic.h"
#include "compile/calibrate/samples.h"
#include "ir/rewrite/patch.h"

namespace deuteron {

// How many results of a recurrent layer, from the first, are hidden states and so have one set of
// parameters: y and h_n, or h_n alone. 0 for every other operator.
i64 state_results(const Op& op);

// A sequence of which only the last step is read is not stored.
std::span<const Rule> recurrent_rules();

// Runs the samples through the float graph and writes the largest magnitude of each LSTM's cell
// state into the LSTMs of `quantized`, which has the same ones in the same order.
void measure_cells(const Graph& graph, const Samples& samples, int threads, Graph& quantized);

// Of a model that came quantized: recurrent layers whose x, or whose results, its quantizer left in
// float get the ranges that the samples show, as a float model's would.
void quantize_recurrent_layers(Graph& graph, const Samples& samples, int threads,
                               Diagnostics& diagnostics);

}  // namespace deuteron
