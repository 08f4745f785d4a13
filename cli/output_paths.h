// SPDX-License-Identifier: Apache-2.0
// Refuses to write over what a verb reads, or over what it has just written.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct NamedPath {
  std::string option;  // "-o", "the model"
  std::string path;    // empty, or `-`: none
};

// False, with one error: an output is an input, lies in a folder of inputs, holds an input (a
// folder that is replaced whole), or is another output. Links, hard links and other spellings do
// not hide it. Devices and pipes may be named as often as one likes.
bool check_outputs(std::span<const NamedPath> inputs, std::span<const NamedPath> outputs,
                   Diagnostics& diagnostics);

// Every one of a list of files.
void add_paths(std::vector<NamedPath>& to, const std::string& option,
               std::span<const std::string> paths);

}  // namespace deuteron
