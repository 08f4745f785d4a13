// SPDX-License-Identifier: Apache-2.0
// A program as a file that Netron and Model Explorer open: a TFLite model whose custom operators
// are the program's calls, by their names. For a look; nothing can run it.
#pragma once
#include <vector>

#include "base/tensor/type.h"
#include "explain/inspect/pte.h"

namespace deuteron {

// `file`: the bytes that `program` was read from, with read_call_tensors(); its constants are in
// the view.
std::vector<u8> stock_view(const PteSummary& program, File file);

}  // namespace deuteron
