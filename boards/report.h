// SPDX-License-Identifier: Apache-2.0
// What the runner on a board says, line by line, and what the user is told when a run does not end
// well.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "boards/emulate.h"
#include "boards/watched_process.h"

namespace deuteron {

// What the board has said, gathered while it runs.
struct BoardReport {
  std::string trouble;        // the first line that reports one
  std::string emulator_text;  // lines that are not the runner's
  std::string entered;        // by step: "3 cortex_m::pad", the last call that was started
  bool booted = false, loaded = false;
  std::vector<uint64_t> output_bytes;
  std::vector<StepCount> steps;
};

// True when the board has got further by a call or a sample.
bool take_line(std::string_view line, BoardReport& report, EmulatedRun& run);

std::string during(const BoardReport& report);  // "while the program was loaded"

// `gdb:HOST:PORT`, `serial:DEVICE`: a board on somebody's desk, and not an emulated one.
inline bool is_behind_probe(std::string_view board) {
  return board.starts_with("gdb:") || board.starts_with("serial:");
}

Diagnostic board_trouble(std::string_view board, std::string what, std::string rule,
                         std::string fix = {});

Diagnostic no_board(std::string_view name);                       // a name that no board has
Diagnostic unknown_core(std::string_view board, uint32_t cpuid);  // core_of() does not know it

// Names the function of the runner that an address lies in; "": none.
using NameFunction = std::function<std::string(uint32_t)>;

// For a run that did not end with exit code 0. `board`: an emulated one, or `gdb:HOST:PORT`.
Diagnostic describe_end(std::string_view board, const NameFunction& name_function,
                        const ProcessEnd& end, const BoardReport& report,
                        const EmulateOptions& options, double limit_seconds);

// The same for what the runner itself says at its end. Nothing: it says nothing of the kind.
std::optional<Diagnostic> describe_exit(std::string_view board, const NameFunction& name_function,
                                        BoardExit exit, const BoardReport& report);

}  // namespace deuteron
