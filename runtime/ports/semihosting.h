// SPDX-License-Identifier: Apache-2.0
// Calls from the board to the emulator: files, text, the end. Source: Arm, "Semihosting for AArch32
// and AArch64", 2.0.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/ports/job.h"
#include "runtime/ports/line.h"

namespace deuteron {

int open_to_read(const char* path);                 // -1: no such file
int open_to_write(const char* path);                // creates or empties
bool read_all(int file, void* data, size_t bytes);  // false: the file is shorter
bool write_all(int file, const void* data, size_t bytes);
bool command_line(char* text, size_t bytes);
[[noreturn]] void end_board(BoardExit);

}  // namespace deuteron
