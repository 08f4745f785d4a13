// The emulated boards: the rows of boards.txt.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

struct Board {
  std::string_view name;           // QEMU's
  std::string_view target;         // what programs for it are compiled for: a file of targets/
  std::string_view isa;            // of that target: scalar, dsp, mve
  uint32_t memory_mb;              // for programs and tensors
  std::string_view flags;          // of the cross compiler, with spaces between them
  std::span<const uint8_t> image;  // the runner, an ELF file; empty: built without the cross compiler
};
std::span<const Board> all_boards();
bool has_board_runners();  // false: built without the cross compiler; run_emulated then says so

const Board* find_board(std::string_view name);  // null: there is none
std::vector<std::string> board_names();
const Board& largest_board();                         // with the most memory; the first of equals
std::string list_of_boards(std::string_view prefix);  // "mps3-an547 (cortex-m55), mps2-an505 (cortex-m33)", `prefix` before each name

}  // namespace deuteron
