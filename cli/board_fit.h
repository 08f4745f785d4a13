// SPDX-License-Identifier: Apache-2.0
// Whether an image of a program fits a board, before anything is flashed: the image is built here,
// as the user's own build of `deuteron firmware` would build it, and what its linker counted is
// compared with the memory.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "boards/board.h"
#include "cli/program_file.h"

namespace deuteron {

// "mps2-an386", or with the memory of another chip that has this core:
// "mps2-an386,flash=128K,ram=32K".
struct BoardMemory {
  const Board* board = nullptr;
  uint64_t flash = 0, ram = 0;  // bytes
};
std::optional<BoardMemory> board_memory(const std::string& text, Diagnostics& diagnostics);

struct BoardFit {
  struct Part {
    uint64_t flash = 0, ram = 0;
  };
  std::map<std::string, Part> parts;  // of the image, as write/firmware/project prints them;
                                      // without the sample that it runs on
  uint64_t flash = 0, ram = 0;        // their sums; ram with the stack
  uint64_t stack = 0;                 // at most
};

// Takes seconds: a cross compiler runs. Nothing of it stays. Nothing, with a diagnostic: a tool is
// not there, the build fails, or the program is not for the board.
std::optional<BoardFit> fit_board(const BoardMemory& memory, const ProgramFile& file,
                                  Diagnostics& diagnostics);

// False, with a diagnostic that says by how much, and which parts are largest: it does not fit.
bool check_fit(const BoardMemory& memory, const BoardFit& fit, Diagnostics& diagnostics);

// Lines for a summary.
std::string text_of(const BoardMemory& memory, const BoardFit& fit);

}  // namespace deuteron
