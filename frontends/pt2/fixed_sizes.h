// A program whose sizes were left open becomes one of fixed sizes.
#pragma once
#include "base/diagnostic.h"
#include "data/input_shapes.h"
#include "frontends/pt2_archive/program.h"

namespace deuteron::pt2 {

// Symbols get their numbers from `given`; the one in the first axis of an input is 1 where nobody says otherwise, with a note. Every shape,
// stride and argument that is computed of them becomes a number, and the nodes that compute sizes go. What stays open stays in
// `program.dynamic`. False after an error.
bool fix_sizes(Program& program, const InputShapes& given, const std::string& name, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
