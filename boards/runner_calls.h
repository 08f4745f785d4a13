// SPDX-License-Identifier: Apache-2.0
// What the runner on a chip asks its host for: its files and its text, as by semihosting
// (runtime/ports/semihosting.h), but the host reads and writes the chip's memory.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "boards/gdb_remote.h"
#include "boards/probed_memory.h"
#include "runtime/ports/job.h"

namespace deuteron {

class RunnerCalls {
 public:
  RunnerCalls(GdbRemote& gdb, ProbedMemory& memory, std::function<bool(std::string_view)> on_line)
      : gdb_(gdb), memory_(memory), on_line_(std::move(on_line)) {}

  std::vector<uint8_t> job, outputs, profile;  // the first is read, the others are written
  std::optional<BoardExit> end;                // once the runner has said it
  bool progress = false;  // of the last call: its line says that it got further

  // `block`: the address of the arguments. nullopt: the GDB server's error says why.
  std::optional<uint32_t> answer(uint32_t number, uint32_t block);

 private:
  GdbRemote& gdb_;
  ProbedMemory& memory_;
  std::function<bool(std::string_view)> on_line_;
  size_t read_ = 0;
};

}  // namespace deuteron
