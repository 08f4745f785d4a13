// Tensors as large as the file that speaks of them warrants.
#pragma once
#include "base/diagnostic.h"
#include "frontends/pt2_archive/archive.h"
#include "frontends/pt2_archive/program.h"

namespace deuteron::pt2 {

// A few bytes can say any size, and what an operator picks is a table as long as the axis. Weights are held against their bytes when they
// are read; any other tensor may have twice kMostMadeElements, or as many elements as the file has bytes. False after an error.
bool check_claimed_sizes(const Archive& archive, const Program& program, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
