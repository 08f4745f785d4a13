// SPDX-License-Identifier: Apache-2.0
// Tensors as large as the file that speaks of them warrants.
#pragma once
#include "base/diagnostic.h"
#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// A few bytes can say any size. Weights are held against their bytes when they are read, any other
// tensor against most_claimed_elements. False after an error.
bool check_claimed_sizes(const Archive& archive, const Program& program, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
