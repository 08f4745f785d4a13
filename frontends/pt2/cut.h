// SPDX-License-Identifier: Apache-2.0
// A part of an exported program (base/data/model_part.h).
#pragma once
#include "base/data/model_part.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// What is not of the part goes; what changes something in place stays. False: reported.
bool cut(Program& program, const ModelPart& part, const std::string& name,
         Diagnostics& diagnostics);

}  // namespace deuteron::pt2
