// SPDX-License-Identifier: Apache-2.0
// Random networks, each compiled in every way that must not change its bits (same_bits.h).
// tests/networks.py starts this and cuts down what fails.
//
//   networks SEED COUNT [BOARD_EVERY]   the networks of so many seeds; the last line that begins
//                                       with `seed` is of the one at work
//   networks --compile SEED COUNT       compiles each once, with samples or without: a program
//                                       that loads or a diagnostic, and no internal error
//   networks --print SEED               its text
//   networks --check FILE TARGET        a graph in the text form; the target by its number
//   networks --smaller FILE FOLDER      graphs with less in them, as files 000, 001, ..: the
//                                       smallest first
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "boards/board.h"
#include "boards/emulate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/fuzz/random_network.h"
#include "tests/fuzz/same_bits.h"
#include "tests/fuzz/smaller_graphs.h"

using namespace deuteron;
using namespace deuteron::test;

namespace {

std::optional<Graph> network(uint32_t seed) {
  std::optional<Graph> graph = random_network(seed);
  if (graph) {
    const auto fault = find_fault(*graph);
    DEUTERON_CHECK(!fault, *fault);
  }
  return graph;
}

std::optional<Graph> read(const char* path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Diagnostics diagnostics;
  return parse(text, path, diagnostics);
}

std::optional<BoardOutputs> run_on_board(const std::string& target,
                                         std::span<const uint8_t> program,
                                         const ByteSamples& inputs) {
  for (const Board& board : emulated_boards()) {
    if (board.target != target || board.image.empty()) continue;
    EmulatedRun run = run_emulated(board.name, program, inputs);
    return BoardOutputs{std::string(board.name), run.ok ? "" : format_diagnostic(run.error),
                        std::move(run.outputs)};
  }
  return std::nullopt;
}

int run(uint32_t first, uint32_t count, uint32_t board_every) {
  int programs = 0, compared = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::printf("seed %u target %u\n", seed, seed % 6);
    std::fflush(stdout);
    const std::optional<Graph> graph = network(seed);
    if (!graph) continue;
    const Checked checked = check_same_bits(
        *graph, seed,
        board_every > 0 && seed % board_every < 6 ? RunOnBoard(run_on_board) : nullptr);
    programs += checked.programs, compared += checked.compared;
    if (!checked.fault) continue;
    std::printf("fault %s\n", checked.fault->c_str());
    return 1;
  }
  std::printf("done %u networks, %d programs, %d compared\n", count, programs, compared);
  return 0;
}

// Nothing is compared, so a hundred of them take the time of one of `run`.
int compile_only(uint32_t first, uint32_t count) {
  uint32_t programs = 0, refused = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::printf("seed %u target %u\n", seed, seed % 6);
    std::fflush(stdout);
    const std::optional<Graph> graph = network(seed);
    if (!graph) continue;
    (compiles(*graph, seed) ? programs : refused)++;
  }
  std::printf("done %u networks, %u programs, %u refused\n", count, programs, refused);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "--print") {
    const std::optional<Graph> graph = network(static_cast<uint32_t>(std::stoul(argv[2])));
    if (graph) std::fputs(print(*graph, {.all_constants = true}).c_str(), stdout);
    return 0;
  }
  if (mode == "--check" && argc == 4) {
    const std::optional<Graph> graph = read(argv[2]);
    if (!graph) return 2;
    const Checked checked = check_same_bits(*graph, static_cast<uint32_t>(std::stoul(argv[3])), {});
    if (checked.fault) std::printf("fault %s\n", checked.fault->c_str());
    return checked.fault ? 1 : 0;
  }
  if (mode == "--smaller" && argc == 4) {
    const std::optional<Graph> graph = read(argv[2]);
    if (!graph) return 2;
    int number = 0;
    for (const Graph& g : smaller_graphs(*graph)) {
      char name[16];
      std::snprintf(name, sizeof name, "%03d", number++);
      std::ofstream(std::filesystem::path(argv[3]) / name) << print(g, {.all_constants = true});
    }
    return 0;
  }
  if (argc < 3) return std::fprintf(stderr, "usage: networks SEED COUNT [BOARD_EVERY]\n"), 2;
  const auto number = [&](int k) { return static_cast<uint32_t>(std::stoul(argv[k])); };
  if (mode == "--compile" && argc == 4) return compile_only(number(2), number(3));
  return run(number(1), number(2), argc > 3 ? number(3) : 0);
}
