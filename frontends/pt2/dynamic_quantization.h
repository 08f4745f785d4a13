// SPDX-License-Identifier: Apache-2.0
// Dynamic quantization of PT2E: scales that the model finds as it runs.
#pragma once
#include <string>

#include "base/diagnostic.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// quantize and dequantize by a scale of choose_qparams   become   the values themselves
// With a note: what is left is a float model with the weights that it has. Refused where anything
// else reads a scale or the steps.
void take_out_dynamic_quantization(Program& program, const std::string& name,
                                   Diagnostics& diagnostics);

}  // namespace deuteron::pt2
