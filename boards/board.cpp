#include "boards/board.h"

#include <fmt/format.h>

#include <algorithm>

#include "boards/images.h"

namespace deuteron {

std::span<const Board> all_boards() {
  static const std::vector<Board> boards = [] {
    std::vector<Board> list;
    for (int i = 0; i < deuteron_board_count; ++i) {
      const deuteron_board& b = deuteron_boards[i];
      list.push_back({b.name, b.target, b.isa, b.memory_mb, b.flags, {b.begin, b.end}});
    }
    return list;
  }();
  return boards;
}

bool has_board_runners() { return !all_boards()[0].image.empty(); }

const Board* find_board(std::string_view name) {
  for (const Board& b : all_boards())
    if (b.name == name) return &b;
  return nullptr;
}

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const Board& b : all_boards()) names.emplace_back(b.name);
  return names;
}

const Board& largest_board() { return *std::ranges::max_element(all_boards(), {}, &Board::memory_mb); }

std::string list_of_boards(std::string_view prefix) {
  std::string text;
  for (const Board& b : all_boards()) text += fmt::format("{}{}{} ({})", text.empty() ? "" : ", ", prefix, b.name, b.target);
  return text;
}

}  // namespace deuteron
