// SPDX-License-Identifier: Apache-2.0
#include "boards/probed_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace deuteron {
namespace {

constexpr int kTries = 4;

}  // namespace

bool ProbedMemory::put(uint32_t address, std::span<const uint8_t> bytes, bool in_flash) {
  if (bytes.empty()) return true;
  std::vector<uint8_t> found(bytes.size());
  for (int tries = 0; tries < kTries; tries++) {
    if (!(in_flash ? gdb_.write_flash(address, bytes) : gdb_.write(address, bytes))) return false;
    if (const std::optional<bool> same = gdb_.has_bytes(address, bytes); same.value_or(false))
      return true;
    if (!gdb_.read(address, found)) return false;
    if (std::ranges::equal(found, bytes)) return true;
  }
  const auto differs = std::ranges::mismatch(found, bytes).in1;
  return gdb_.fail(fmt::format("there is no {} at {:#010x}: it does not keep what is written",
                               in_flash ? "flash that the server can write" : "RAM",
                               address + static_cast<uint32_t>(differs - found.begin())),
                   "gdb.memory", "--memory says where the chip has what");
}

bool ProbedMemory::fetch(uint32_t address, std::span<uint8_t> bytes) {
  std::vector<uint8_t> again(bytes.size());
  for (int tries = 0; tries < kTries; tries++) {
    if (!gdb_.read(address, bytes) || !gdb_.read(address, again)) return false;
    if (std::ranges::equal(again, bytes)) return true;
  }
  return gdb_.fail(
      fmt::format("{} bytes at {:#010x} are read otherwise each time", bytes.size(), address),
      "gdb.memory", "look at the cable");
}

std::optional<std::string> ProbedMemory::read_text(uint32_t address) {
  std::string text;
  while (text.size() < 1024) {
    uint8_t piece[64];
    if (!fetch(address + static_cast<uint32_t>(text.size()), piece)) return std::nullopt;
    const auto end = std::find(piece, piece + sizeof piece, 0);
    text.append(piece, end);
    if (end != piece + sizeof piece) break;
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace deuteron
