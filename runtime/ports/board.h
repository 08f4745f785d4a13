// SPDX-License-Identifier: Apache-2.0
// The board that this is compiled for: kBoardName, and from its own file (boards/<name>/map.h,
// named by the build)
//   kCode, kRam           hold the program; the stack and data
//   kPool                 regions for models and tensors
//   kInstructionsPerTick  of the counter that stamps read: with `-icount shift=0` an instruction
//                         takes one virtual nanosecond
//   kFpgaio               of a Cortex-M: a free-running counter, and a second one at 100 Hz
// and, with the header of its core (runtime/ports/*/core.h), what only assembly can do.
#pragma once
#include DEUTERON_BOARD_MAP

namespace deuteron {

inline constexpr const char* kBoardName = DEUTERON_BOARD_NAME;

}  // namespace deuteron
