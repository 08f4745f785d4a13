// SPDX-License-Identifier: Apache-2.0
// --cycles: the estimated cycles of a run on an emulated board, call by call and function by
// function.
#pragma once
#include <string>

#include "boards/cycles/estimate_cycles.h"
#include "cli/verb.h"

namespace deuteron {

// "board": the board's own core. Null, with a diagnostic: no such board or core, or a core that
// cannot run the board's image.
const CoreModel* core_for(const std::string& board, const std::string& name,
                          Diagnostics& diagnostics);

Json json_of(const CoreModel& core, const CycleEstimate& estimate);
std::string text_of(const CoreModel& core, const CycleEstimate& estimate);

}  // namespace deuteron
