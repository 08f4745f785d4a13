// SPDX-License-Identifier: Apache-2.0
#include "targets/chips.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "targets/builtin.h"

namespace deuteron {
namespace {

// The columns of a row, without the spaces around them.
std::vector<std::string_view> columns_of(std::string_view row) {
  std::vector<std::string_view> columns;
  while (true) {
    const size_t end = row.find('|');
    std::string_view c = row.substr(0, end);
    while (c.starts_with(' ')) c.remove_prefix(1);
    while (c.ends_with(' ')) c.remove_suffix(1);
    columns.push_back(c);
    if (end == row.npos) return columns;
    row.remove_prefix(end + 1);
  }
}

uint32_t number_of(std::string_view text) {
  uint32_t unit = 1, v = 0;
  if (text.ends_with('K')) unit = 1024, text.remove_suffix(1);
  else if (text.ends_with('M')) unit = 1024 * 1024, text.remove_suffix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, base);
  DEUTERON_CHECK(error == std::errc() && end == text.data() + text.size(),
                 fmt::format("chips.txt: `{}` is not a number", text));
  return v * unit;
}

std::vector<ChipRegion> regions_of(std::string_view text) {
  std::vector<ChipRegion> regions;
  while (!text.empty() && text != "-") {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    regions.push_back(
        {number_of(item.substr(0, item.find('+'))), number_of(item.substr(item.find('+') + 1))});
  }
  return regions;
}

// "5@168/16/128": wait states at so many MHz, bytes of a line, of the cache for data.
Chip::Waits waits_of(std::string_view text) {
  Chip::Waits w;
  if (text == "-") return w;
  const size_t at = text.find('@'), line = text.find('/'), cache = text.rfind('/');
  DEUTERON_CHECK(at < line && line < cache && cache != text.npos,
                 fmt::format("chips.txt: `{}` must be WAITS@MHZ/LINE/CACHE", text));
  w.states = number_of(text.substr(0, at));
  w.clock_hz = 1000000 * number_of(text.substr(at + 1, line - at - 1));
  w.line_bytes = number_of(text.substr(line + 1, cache - line - 1));
  w.cache_bytes = number_of(text.substr(cache + 1));
  return w;
}

// "USART2@0x40004400/stm32_2/PA2/PA3"
Chip::Console console_of(std::string_view text) {
  Chip::Console c;
  if (text == "-") return c;
  const std::string_view all = text;
  std::string_view parts[5];
  for (size_t k = 0; k < 5; ++k) {
    const size_t end = text.find(k == 0 ? '@' : '/');
    DEUTERON_CHECK((end == text.npos) == (k == 4),
                   fmt::format("chips.txt: `{}` must be UART@BASE/REGISTERS/TX/RX", all));
    parts[k] = text.substr(0, end);
    text.remove_prefix(k == 4 ? text.size() : end + 1);
  }
  c.name = parts[0], c.base = number_of(parts[1]), c.registers = parts[2];
  c.tx = parts[3], c.rx = parts[4];
  return c;
}

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return s;
}

}  // namespace

std::span<const Chip> all_chips() {
  static const std::vector<Chip> chips = [] {
    std::vector<Chip> list;
    std::string_view text = builtin_chips();
    while (!text.empty()) {
      const std::string_view row = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), row.size() + 1));
      if (row.empty() || row.starts_with('#')) continue;
      const std::vector<std::string_view> c = columns_of(row);
      DEUTERON_CHECK(c.size() == 9 || c.size() == 10,
                     fmt::format("chips.txt: `{}` must have 9 columns, or 10", row));
      const size_t next = c[5].find(';');  // of the flash; of the RAM
      const std::string_view waits[] = {c[5].substr(0, next),
                                        next == c[5].npos ? "-" : c[5].substr(next + 1)};
      list.push_back({std::string(c[0]), std::string(c[1]), regions_of(c[2]), regions_of(c[3]),
                      c[4] == "-" ? 0 : 1000000 * number_of(c[4]), waits_of(waits[0]),
                      waits_of(waits[1]), console_of(c[6]), std::string(c[7]), std::string(c[8]),
                      std::string(c.size() == 10 ? c[9] : "")});
    }
    return list;
  }();
  return chips;
}

std::vector<std::string> chips_called(std::string_view beginning) {
  std::vector<std::string> names;
  for (const Chip& c : all_chips())
    if (c.name.starts_with(lower(beginning))) names.push_back(c.name);
  return names;
}

const Chip* find_chip(std::string_view name) {
  const std::vector<std::string> names = chips_called(name);
  for (const Chip& c : all_chips())
    if (c.name == lower(name) || (names.size() == 1 && c.name == names[0])) return &c;
  return nullptr;
}

std::string text_of(std::span<const ChipRegion> regions) {
  std::string text;
  for (const ChipRegion& r : regions)
    text += fmt::format(
        "{}{:#010x}+{}", text.empty() ? "" : ",", r.base,
        r.bytes % 1024 == 0 ? fmt::format("{}K", r.bytes / 1024) : std::to_string(r.bytes));
  return text.empty() ? "-" : text;
}

std::string recipe_of(const Chip& chip) {
  const auto largest = [](std::span<const ChipRegion> regions) {
    return std::ranges::max_element(regions, {}, &ChipRegion::bytes)->bytes;
  };
  std::string text = fmt::format(
      "format = 1\nname = \"{}\"\ndescription = \"{}: {}, RAM {}, flash {}{}\"\nextends = "
      "[\"{}\"]\n",
      chip.name, chip.name, chip.core, text_of(chip.ram), text_of(chip.flash),
      chip.npu.empty() ? "" : fmt::format("; its {} is not used", chip.npu),
      chip.core == "cortex-m0+" ? "cortex-m0plus" : chip.core);
  const uint32_t clock = chip.highest_clock_hz();
  const auto add_waits = [&](const Chip::Waits& w) {
    if (w.line_bytes != 0)
      text += fmt::format("wait_states = {}\nline_bytes = {}\ncache_bytes = {}\n", w.states,
                          w.line_bytes, w.cache_bytes);
  };
  if (clock != 0) text += fmt::format("\n[cpu]\nclock_hz = {}\n", clock);
  text += fmt::format("\n[[memory]]\nname = \"ram\"\nbytes = {}\nholds = [\"activations\"]\n",
                      largest(chip.ram));
  add_waits(chip.ram_waits);
  if (chip.flash.empty()) return text;
  text += fmt::format("\n[[memory]]\nname = \"flash\"\nbytes = {}\nholds = [\"constants\"]\n",
                      largest(chip.flash));
  add_waits(chip.waits);
  return text;
}

}  // namespace deuteron
