// SPDX-License-Identifier: Apache-2.0
// A chip's memory behind a GDB server, so that what is there and what was meant are the same: what
// is written is read back, and what is read is read again. Two faults of the line in a packet may
// leave its sum of 8 bits as it is.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "boards/gdb_remote.h"

namespace deuteron {

class ProbedMemory {
 public:
  explicit ProbedMemory(GdbRemote& gdb) : gdb_(gdb) {}
  // False, nullopt: the GDB server's error says why.
  bool put(uint32_t address, std::span<const uint8_t> bytes, bool in_flash = false);
  bool fetch(uint32_t address, std::span<uint8_t> bytes);
  std::optional<std::string> read_text(
      uint32_t address);  // up to its zero, without line feeds at its end

 private:
  GdbRemote& gdb_;
};

}  // namespace deuteron
