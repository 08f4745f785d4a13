// SPDX-License-Identifier: Apache-2.0
// Writes a lowered and planned graph as an ExecuTorch program (`.pte`). Format:
// docs/runtime.md.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/memory_plan.h"

namespace deuteron {

struct PteParts {  // for the report; they add up to the file; `constants` has what states begin
                   // with
  i64 program = 0, constants = 0, padding = 0, delegates = 0;
};

// Nodes are KernelCalls and Reshapes (which become other views of the same bytes). Constants and
// literal values appear once. The unreferenced string value `deuteron:isa=...` names the
// instruction set; `notes` are further ones, for readers that know them.
std::vector<uint8_t> write_pte(const Graph& lowered, const MemoryPlan& plan, Isa isa,
                               PteParts* parts = nullptr, std::span<const std::string> notes = {});

}  // namespace deuteron
