// SPDX-License-Identifier: Apache-2.0
// A program whose sizes were left open becomes one of fixed sizes.
#pragma once
#include "base/data/input_shapes.h"
#include "base/diagnostic.h"
#include "frontends/pt2/file/open_sizes.h"

namespace deuteron::pt2 {

// Symbols get their numbers from `given`; the one in the first axis of an input is 1 where nobody
// says otherwise, with a note. Every shape, stride and argument that is computed of them becomes a
// number, and the nodes that compute sizes go. Symbols of inputs and weights that stay open stay in
// `program.dynamic`; those that a node makes do not, and are in `sizes` once the node is imported.
// False after an error.
bool fix_sizes(Program& program, OpenSizes& sizes, const InputShapes& given,
               const std::string& name, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
