// SPDX-License-Identifier: Apache-2.0
// A program that gives out the values on its way too: those of the CPU and those that never leave
// the NPU.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "ir/graph.h"

namespace deuteron {

struct Target;

struct Tap {
  Origin origin;
  std::string op;  // "conv2d"
  Type type;       // int8, storage order
};

struct TappedProgram {
  std::vector<uint8_t> pte;
  std::vector<Tap> taps;  // its outputs behind the program's own, in storage order
};

// `before`: stopped before the pass lower-delegates. Taps the computed int8 values from the `first`
// one on, in the order of the program, at most `most` of them: an NPU part has a limit of outputs.
// None are left: no taps. Results are the same wherever an NPU part gives out values, so a tap has
// the bits that the program computes. nullopt, with a diagnostic: it cannot be lowered.
std::optional<TappedProgram> tap_values(const Compilation& before, const Target& target,
                                        const CompileOptions& options, size_t first, size_t most,
                                        Diagnostics& diagnostics);

}  // namespace deuteron
