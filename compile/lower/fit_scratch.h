// SPDX-License-Identifier: Apache-2.0
// Scratch as our own kernels need it, where no stock kernel will read the program.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// Every call that says what its own kernel needs has the least.
void shrink_scratch(Graph& lowered);

}  // namespace deuteron
