// SPDX-License-Identifier: Apache-2.0
#include "boards/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "boards/images.h"

namespace deuteron {

std::span<const Board> all_boards() {
  static const std::vector<Board> boards = [] {
    std::vector<Board> list;
    for (int i = 0; i < deuteron_board_count; ++i) {
      const deuteron_board& b = deuteron_boards[i];
      const deuteron_cores& c = *b.cores;
      list.push_back({b.name,
                      {c.name, c.prefix, c.packages, c.headers, c.macro, c.emulator,
                       c.emulator_package, c.flags},
                      std::string_view(b.runs) == "qemu",
                      b.machine,
                      b.target,
                      b.isa,
                      std::string_view(b.npu) == "neutron",
                      b.memory_mb,
                      b.flags,
                      {b.begin, b.end},
                      {b.parts, b.parts_end}});
    }
    std::stable_partition(list.begin(), list.end(),
                          [](const Board& board) { return board.emulated; });
    return list;
  }();
  return boards;
}

std::span<const Board> emulated_boards() {
  return all_boards().first(
      static_cast<size_t>(std::ranges::count_if(all_boards(), &Board::emulated)));
}

std::vector<Board> boards_with_npu() {
  std::vector<Board> list;
  std::ranges::copy_if(emulated_boards(), std::back_inserter(list), &Board::npu);
  return list;
}

bool has_board_runners() {
  return std::ranges::any_of(emulated_boards(),
                             [](const Board& board) { return !board.image.empty(); });
}

std::string how_to_build_runners(const Cores& cores) {
  const bool has_some = std::ranges::any_of(emulated_boards(), [&](const Board& board) {
    return board.cores.name == cores.name && !board.image.empty();
  });
  return has_some ? "./dev build builds the runners of all boards"
                  : fmt::format("apt-get install {}, and build again", cores.packages);
}

std::span<const uint8_t> block_counts_plugin() {
  return {deuteron_block_counts, deuteron_block_counts_end};
}

const Board* find_board(std::span<const Board> among, std::string_view name) {
  for (const Board& b : among)
    if (b.name == name) return &b;
  return nullptr;
}

std::vector<std::string> names_of(std::span<const Board> boards) {
  std::vector<std::string> names;
  for (const Board& b : boards) names.emplace_back(b.name);
  return names;
}

const Board& largest_board() {
  return *std::ranges::max_element(emulated_boards(), {}, &Board::memory_mb);
}

std::string list_of(std::span<const Board> boards, std::string_view prefix) {
  std::string text;
  for (const Board& b : boards)
    text += fmt::format("{}{}{} ({})", text.empty() ? "" : ", ", prefix, b.name, b.target);
  return text;
}

}  // namespace deuteron
