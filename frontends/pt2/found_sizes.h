// SPDX-License-Identifier: Apache-2.0
// Sizes that follow from the elements of constants: the walk over the nodes finds them at the node
// that makes them, and needs them behind it.
#pragma once
#include "frontends/pt2/call/import_state.h"

namespace deuteron::pt2 {

enum class SizesOf : u8 {
  known,     // the node can be imported; a result whose sizes are still open is as large as its
             // importer finds
  computed,  // the node only computes or tests sizes, and they are known
  refused,   // the node needs a size that a refused one would have made, or has a result of
             // impossible sizes, which has been reported
};

// Writes what has been found so far into the arguments and results of a node. `after_refusal`: a
// node before it was refused.
SizesOf take_found_sizes(ImportState& state, ProgramNode& node, i32 source, bool after_refusal);

}  // namespace deuteron::pt2
