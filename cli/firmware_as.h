// SPDX-License-Identifier: Apache-2.0
// deuteron firmware --as: programs as C that share their kernels, or that as a package of another
// build system.
#pragma once
#include <string>
#include <vector>

#include "cli/emit_c.h"

namespace deuteron {

struct FirmwareAs {
  std::vector<std::string> models;
  std::string board, target, output, json;  // target: the core, instead of a board
  COptions c;                               // form: "c", "hpp", or one of c_packages()
  std::string verify_key;                   // "": who made the programs does not matter
};
int firmware_as(const FirmwareAs& options);

// The core that is asked for: by its name, that of the board, or the usual one with the
// instructions of the first program.
std::optional<Target> target_of(const FirmwareAs& options, const std::vector<ProgramFile>& programs,
                                Diagnostics& diagnostics);

}  // namespace deuteron
