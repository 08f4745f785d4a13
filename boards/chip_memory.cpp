// SPDX-License-Identifier: Apache-2.0
#include "boards/chip_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace deuteron {
namespace {

// "128K", "0x20000"
std::optional<uint64_t> bytes_in(std::string_view text) {
  uint64_t unit = 1;
  if (text.ends_with('K') || text.ends_with('k')) unit = 1024, text.remove_suffix(1);
  else if (text.ends_with('M') || text.ends_with('m')) unit = 1024 * 1024, text.remove_suffix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t v = 0;
  const auto [end, e] = std::from_chars(text.data(), text.data() + text.size(), v, base);
  if (e != std::errc() || end != text.data() + text.size() || v > UINT32_MAX) return std::nullopt;
  return v * unit;
}

struct Piece {
  std::string_view text;
  uint64_t base, bytes;
};

// "ram=0x20000000+128K"
std::optional<Piece> piece_of(std::string_view item, std::string& problem) {
  constexpr uint64_t kLeast = 1024, kDevices = 0xe0000000;
  const size_t equals = item.find('='), plus = item.find('+');
  const std::string_view kind = item.substr(0, equals);
  const bool is_whole = equals != item.npos && plus != item.npos && equals < plus &&
                        (kind == "ram" || kind == "flash");
  const std::optional<uint64_t> base = is_whole
                                           ? bytes_in(item.substr(equals + 1, plus - equals - 1))
                                           : std::nullopt,
                                bytes = is_whole ? bytes_in(item.substr(plus + 1)) : std::nullopt;
  const char* wrong = nullptr;
  if (!base || !bytes) wrong = "is not a memory";
  else if (*bytes < kLeast) wrong = "has less than 1K";
  else if (*base % 4 != 0 || *bytes % 4 != 0) wrong = "is not whole words of 4 bytes";
  else if (*base + *bytes > kDevices)
    wrong = "reaches behind 0xe0000000, where the core's devices are";
  if (!wrong) return Piece{item, *base, *bytes};
  problem = fmt::format("`{}` {}: ram=0x20000000+128K, flash=0x08000000+512K", item, wrong);
  return std::nullopt;
}

}  // namespace

std::optional<ChipMemory> parse_memory(std::string_view text, std::string& problem) {
  if (const Chip* chip = find_chip(text); chip && !text.empty())
    return ChipMemory{chip->ram, chip->flash, chip->clock_hz, chip->name, chip->core};
  if (!text.empty() && text.find_first_of("=+,") == text.npos) {
    const std::vector<std::string> several = chips_called(text);
    problem = several.empty() ? fmt::format(
                                    "there is no chip `{}` (`deuteron targets --chips`); "
                                    "ram=0x20000000+128K says it too",
                                    text)
                              : fmt::format("`{}` begins the names of several chips: {}", text,
                                            fmt::join(several, ", "));
    return std::nullopt;
  }
  ChipMemory memory;
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::optional<Piece> piece = piece_of(item, problem);
    if (!piece) return std::nullopt;
    for (const Piece& other : pieces)
      if (piece->base < other.base + other.bytes && other.base < piece->base + piece->bytes) {
        problem = fmt::format("`{}` and `{}` lie over each other", other.text, item);
        return std::nullopt;
      }
    pieces.push_back(*piece);
    (item.starts_with("ram") ? memory.ram : memory.flash)
        .push_back({static_cast<uint32_t>(piece->base), static_cast<uint32_t>(piece->bytes)});
  }
  if (memory.ram.empty()) problem = "it has no RAM: ram=0x20000000+128K";
  else if (memory.ram.size() > 4) problem = "at most 4 regions of RAM";
  else return memory;
  return std::nullopt;
}

}  // namespace deuteron
