// SPDX-License-Identifier: Apache-2.0
// Instruction sets: whose conventions a program follows, and which ones this build knows.
#pragma once
#include <cstdint>

#include "runtime/instruction_set.h"

namespace deuteron {

// The instruction set whose conventions a program follows (scratch sizes, folded biases, how floats
// are rounded to int8). Files of Deuteron say it, stock files do not.
enum class Isa : uint8_t { scalar, dsp, mve };
const char* name_of(Isa);

// Of this build: its own on Arm; on a host the one without extensions. A program that does not say
// its own is taken for one of these, as stock firmware does.
inline constexpr bool kIsHost = !kIsMicrocontroller;
inline constexpr Isa kBuildIsa = kHasMve ? Isa::mve : kHasDsp ? Isa::dsp : Isa::scalar;

// What this build accepts: its own instruction set on Arm, every one on a host (bit i: Isa i).
uint8_t accepted_isas();

}  // namespace deuteron
