// SPDX-License-Identifier: Apache-2.0
// Writes an image of firmware into a chip behind a GDB server, and starts it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct ImagePiece {
  uint32_t address = 0;
  std::vector<uint8_t> bytes;
};
// What a loader puts into memory, of an ELF file for Arm: pieces that lie close together are one,
// since flash is erased in blocks. nullopt, with what is wrong.
std::optional<std::vector<ImagePiece>> read_image(std::span<const uint8_t> elf,
                                                  std::string& problem);

// `where`: "gdb:HOST:PORT". All that is written is read back; then the chip is reset. Also after
// an error it is let run. nullopt: done, and `core` says where.
std::optional<Diagnostic> flash_image(std::string_view where, std::span<const ImagePiece> image,
                                      std::string& core);

}  // namespace deuteron
