// SPDX-License-Identifier: Apache-2.0
// Types of numbers that the program computes in another type.
#pragma once
#include "base/diagnostic.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// float16, bfloat16 and float64 are float32, everywhere. A small integer input (uint8, int8, int16)
// and what is moved of it is float32 where the model reads it as a number, else int32: the same
// whole numbers. Each with a note. An int8 input that a dequantize reads is steps, and stays
// (frontends/pt2/operators/step_ports.h).
void fix_number_types(Program& program, const std::string& name, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
