// SPDX-License-Identifier: Apache-2.0
// The boards: the rows of boards.txt, and their families of cores: those of cores.txt.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

struct Cores {
  std::string_view name;      // "cortex_m": runtime/ports has a folder of that name
  std::string_view prefix;    // of the cross compiler, "arm-none-eabi-"
  std::string_view packages;  // Debian's, with the compiler
  std::string_view headers;   // C++ headers for a compiler that has none, a pattern; "": it has
  std::string_view macro;     // that this compiler defines, whatever the core
  std::string_view emulator, emulator_package;
  std::string_view flags;  // of the compiler, for every board
};

struct Board {
  std::string_view name;
  Cores cores;
  bool emulated = false;     // by QEMU; false: firmware projects alone, with the vendor's SDK
  std::string_view machine;  // what names an emulated one to QEMU: options
  std::string_view target;   // what programs for it are compiled for: a file of targets/
  std::string_view isa;      // of that target: scalar, dsp, mve
  bool npu = false;          // it has a Neutron
  uint32_t memory_mb;        // for programs and tensors
  std::string_view flags;    // of the cross compiler, with spaces between them
  std::span<const uint8_t>
      image;  // the runner, an ELF file; empty: built without the cross compiler
  std::span<const uint8_t>
      parts;  // the runner for chips with this core, not linked yet (boards/place_image.h)
};
std::span<const Board> all_boards();       // the emulated ones first
std::span<const Board> emulated_boards();  // each has a runner
std::vector<Board> boards_with_npu();      // of these
bool has_board_runners();                  // of any board; false: built without the cross compiler
std::string how_to_build_runners(const Cores& cores);  // where one is missing

std::span<const uint8_t> block_counts_plugin();  // boards/cycles/block_counts.c, for QEMU

const Board* find_board(std::span<const Board> among,
                        std::string_view name);  // null: there is none
std::vector<std::string> names_of(std::span<const Board> boards);
const Board& largest_board();  // of the emulated ones, with the most memory; the first of equals
// "mps3-an547 (cortex-m55), mps2-an505 (cortex-m33)", `prefix` before each name
std::string list_of(std::span<const Board> boards, std::string_view prefix);

}  // namespace deuteron
