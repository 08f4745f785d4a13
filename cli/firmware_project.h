// SPDX-License-Identifier: Apache-2.0
// A firmware project from programs: what `deuteron firmware` writes, and `compile --board` builds
// to measure it.
#pragma once
#include <string>
#include <vector>

#include "base/data/inputs.h"
#include "boards/board.h"
#include "cli/program_file.h"
#include "write/firmware/write_project.h"

namespace deuteron {

// Null, with a diagnostic that names those that there are.
const Board* board_called(const std::string& name, Diagnostics& diagnostics);

// Without models. The NPU's driver is the vendor's on a chip.
FirmwareProject project_for(const Board& board);

// One sample that the firmware runs a model on; without paths it is made up.
struct SampleFiles {
  std::vector<std::string> paths;
  ImageMap image;
};

// With its kernels, its sample and what it needs of memory. False, with a diagnostic: it is not for
// the board, or cannot run.
bool add_model(const ProgramFile& file, const SampleFiles& samples, FirmwareProject& project,
               Diagnostics& diagnostics);

}  // namespace deuteron
