// SPDX-License-Identifier: Apache-2.0
// How the states of a lowered graph get their new values.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// state -> ..; its new value   becomes   state -> ..; copy_(state, its new value), behind
// everything that reads the state. What lies in another state's memory, or in this one at another
// place, is copied out before any state is written.
void write_states(Graph& graph, bool for_stock);

// Where the call whose result is copied to a state, or those that it follows, may work in the
// state's place, they do, and nothing is copied.
void work_in_place(Graph& graph);

}  // namespace deuteron
