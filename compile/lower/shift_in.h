// SPDX-License-Identifier: Apache-2.0
// States that move on: the cache of a streaming layer, of keys and of values.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// state <- state[k:], fresh   becomes   shift_in(state, fresh), in the state's memory
// Left as it is where somebody still reads the old value behind it.
void shift_into_states(Graph& g);

}  // namespace deuteron
