// SPDX-License-Identifier: Apache-2.0
#include "cli/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boards/board.h"
#include "boards/report.h"

namespace deuteron {
namespace {

constexpr size_t kMostFunctions = 10;  // that the text shows; the JSON has all

Json json_of(const CycleCount& c) {
  return {{"name", c.name}, {"instructions", c.instructions}, {"cycles", c.cycles}};
}

std::string row(std::string_view first, const CycleCount& c) {
  const double each = c.instructions == 0 ? 0 : c.cycles / static_cast<double>(c.instructions);
  return fmt::format("{:>4} {:>13} {:>13.0f} {:>6.2f}  {}\n", first, c.instructions, c.cycles, each,
                     c.name);
}

std::string names_of_cores(std::string_view isa) {
  std::string names;
  for (const CoreModel& c : core_models())
    if (runs_on(c, isa)) names += fmt::format("{}{}", names.empty() ? "" : ", ", c.name);
  return names;
}

}  // namespace

const CoreModel* core_for(const std::string& on, const std::string& name,
                          Diagnostics& diagnostics) {
  const Board* const known = find_board(emulated_boards(), on);
  if (!known) return diagnostics.add(no_board(on)), nullptr;
  const Board& board = *known;
  const std::string wanted =
      name == "board" ? std::string(board.target.substr(0, board.target.find('+'))) : name;
  const CoreModel* core = find_core(wanted);
  if (core && runs_on(*core, board.isa)) return core;
  diagnostics.add({Severity::error, "--cycles",
                   core ? fmt::format("{} cannot run the program of qemu:{}, which is for {}",
                                      wanted, board.name, board.isa)
                        : "there is no model of this core",
                   wanted, names_of_cores(board.isa), "cycles.core",
                   "board, for the board's own core"});
  return nullptr;
}

Json json_of(const CoreModel& core, const CycleEstimate& e) {
  Json calls = Json::array(), functions = Json::array();
  for (const CycleCount& c : e.calls) calls.push_back(json_of(c));
  for (const CycleCount& f : e.functions) functions.push_back(json_of(f));
  return {{"core", core.name},         {"instructions", e.whole.instructions},
          {"cycles", e.whole.cycles},  {"instructions_not_priced", e.not_priced},
          {"calls", std::move(calls)}, {"functions", std::move(functions)}};
}

std::string text_of(const CoreModel& core, const CycleEstimate& e) {
  std::string text = fmt::format(
      "estimated cycles on a {}: {:.0f} for {} instructions\n"
      "  (llvm-mca's model of the core: no waiting for memories, no overlap of blocks)\n"
      "call  instructions        cycles   each  operator\n",
      core.name, e.whole.cycles, e.whole.instructions);
  for (size_t k = 0; k < e.calls.size(); ++k) text += row(std::to_string(k), e.calls[k]);
  text += "      instructions        cycles   each  function\n";
  for (size_t k = 0; k < std::min(kMostFunctions, e.functions.size()); ++k)
    text += row("", e.functions[k]);
  if (e.not_priced > 0)
    text +=
        fmt::format("{} instructions that llvm-mca does not take are counted as one cycle each\n",
                    e.not_priced);
  return text;
}

}  // namespace deuteron
