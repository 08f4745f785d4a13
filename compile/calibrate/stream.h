// SPDX-License-Identifier: Apache-2.0
// Samples of a model with state: steps of one sequence, in their order.
#pragma once
#include "compile/calibrate/samples.h"

namespace deuteron {

enum class Sequence : u8 {
  one,      // the state goes on from sample to sample
  each_new  // every sample begins with the initial state
};

// To each sample what the states hold when its step begins, as the float graph computes them: then
// samples have an entry for every graph input, and can be run in any order. Samples that have it,
// and those of a graph without state, come back as they are.
Samples with_states(const Graph& graph, const Samples& samples, Sequence sequence = Sequence::one);

}  // namespace deuteron
