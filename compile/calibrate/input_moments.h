// SPDX-License-Identifier: Apache-2.0
// What the weights of a layer meet: mean and products of its inputs over windows drawn from
// calibration samples. They say what an error of several weights together does to the layer's
// results, and so how to round them (compile/quantize/round_weights.h).
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Of one layer. A window has `terms` inputs for each group of channels, in the order of a filter's
// weights [kh,kw,c/groups]; what lies in the padding is 0.
struct InputMoments {
  i64 groups = 0, terms = 0;
  i64 windows = 0;               // that were added up
  std::vector<double> sum;       // [groups, terms]
  std::vector<double> products;  // [groups, terms, terms], symmetric

  bool empty() const { return windows == 0; }
  void add(const InputMoments& other);
  void take_away(
      const InputMoments& part);  // of what was added before; what rounding leaves of nothing is 0
};

// Of the mean variance, added to each input's own by who weighs errors: few windows know little,
// and no input may have none.
inline constexpr double kMomentsDamping = 0.01;

// By node of the graph: empty for what is no convolution or linear layer with constant weights, and
// for filters of more than kMostTerms weights, whose errors average out.
using LayerMoments = std::vector<InputMoments>;
inline constexpr i64 kMostTerms = 640;

// By part of the samples. inputs[s] as FloatExecutor::run takes them, part_of[s] in 0..parts-1, or
// -1: not looked at. The same for any number of threads.
std::vector<LayerMoments> input_moments(const Graph& graph,
                                        std::span<const std::vector<std::vector<float>>> inputs,
                                        std::span<const i32> part_of, i32 parts, int threads);

}  // namespace deuteron
