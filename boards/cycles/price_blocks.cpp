// SPDX-License-Identifier: Apache-2.0
// See price_blocks.h. The image is disassembled once; the blocks become regions of one file for
// llvm-mca.
#include "boards/cycles/price_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "boards/watched_process.h"

namespace deuteron {
namespace {

constexpr double kLimitSeconds = 120;
constexpr int kTurns = 20;  // of each block: what a turn takes when it is repeated

using Lines = std::function<bool(std::string_view)>;

// True: the tool ended well.
bool run_llvm(const std::string& tool, std::vector<std::string> arguments,
              std::span<const uint8_t> input, const Lines& on_line, std::string* trouble) {
  MemoryFile file("deuteron-llvm");
  if (file.descriptor() < 0 || !file.append(input)) return *trouble = std::strerror(errno), false;
  arguments.insert(arguments.begin(), tool);
  arguments.push_back("/proc/self/fd/3");
  const int descriptors[] = {file.descriptor()};
  const ProcessEnd end =
      run_watched(arguments, descriptors, kLimitSeconds, on_line, HostFiles::read_only);
  if (end.start_error == ENOENT) *trouble = fmt::format("`{}` is not installed", tool);
  else if (end.start_error != 0)
    *trouble = fmt::format("`{}` does not start: {}", tool, std::strerror(end.start_error));
  else if (end.timed_out)
    *trouble = fmt::format("`{}` had no end within {} s", tool, kLimitSeconds);
  else if (end.exit_code != 0)
    *trouble = fmt::format("`{}` ended with code {}", tool, end.exit_code);
  else return true;
  return false;
}

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  return from == text.npos ? std::string_view()
                           : text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

// "    8002:       push    {r4, lr}" by its address.
using Disassembly = std::map<uint32_t, std::string>;

bool disassemble(const CoreModel& core, std::span<const uint8_t> image, Disassembly& to,
                 std::string* trouble) {
  const auto line = [&](std::string_view text) {
    const std::string_view rest = trimmed(text);
    const size_t colon = rest.find(':');
    uint32_t address = 0;
    if (colon == rest.npos ||
        std::from_chars(rest.data(), rest.data() + colon, address, 16).ptr != rest.data() + colon)
      return false;
    const std::string_view code = trimmed(rest.substr(colon + 1));
    if (!code.empty()) to.emplace(address, code.substr(0, std::min(code.find('@'), code.size())));
    return false;
  };
  return run_llvm("llvm-objdump-19",
                  {"-d", "--no-show-raw-insn", "--mcpu=" + std::string(core.name),
                   "--triple=" + std::string(core.triple)},
                  image, line, trouble);
}

// Without the width: ldrd of ldrd.w.
std::string_view mnemonic_of(std::string_view instruction) {
  std::string_view word =
      instruction.substr(0, std::min(instruction.find_first_of(" \t"), instruction.size()));
  for (const std::string_view width : {".w", ".n"})
    if (word.ends_with(width)) word.remove_suffix(width.size());
  return word;
}

bool is_branch(std::string_view mnemonic, std::string_view operands) {
  static constexpr std::string_view kConditions[] = {"",   "eq", "ne", "hs", "cs", "lo",
                                                     "cc", "mi", "pl", "vs", "vc", "hi",
                                                     "ls", "ge", "lt", "gt", "le", "al"};
  for (const std::string_view stem : {"b", "bl", "bx", "blx"})
    if (mnemonic.starts_with(stem) &&
        std::ranges::find(kConditions, mnemonic.substr(stem.size())) != std::end(kConditions))
      return true;
  if (mnemonic == "cbz" || mnemonic == "cbnz" || mnemonic == "tbb" || mnemonic == "tbh")
    return true;
  const std::string_view first =
      trimmed(operands.substr(0, std::min(operands.find(','), operands.size())));
  const bool loads_several = mnemonic.starts_with("pop") || mnemonic.starts_with("ldm");
  return first == "pc" || (loads_several && operands.find("pc") != operands.npos);
}

std::string regions_of(const std::vector<std::vector<std::string>>& code) {
  std::string text;
  for (size_t b = 0; b < code.size(); ++b) {
    if (code[b].empty()) continue;
    text += fmt::format("@ LLVM-MCA-BEGIN b{}\n", b);
    for (const std::string& instruction : code[b]) text += instruction + "\n";
    text += "@ LLVM-MCA-END\n";
  }
  return text;
}

// Reads what llvm-mca prints: a region's name, then its figures. A line that it does not take is
// missing among the instructions.
struct McaReader {
  std::vector<double> cycles;          // of all turns, by block
  std::vector<uint64_t> instructions;  // likewise
  size_t at = SIZE_MAX;

  bool take(std::string_view line) {
    uint64_t n = 0;
    const auto number_behind = [&](std::string_view key) {
      const size_t found = line.find(key);
      if (found == line.npos) return false;
      const std::string_view rest = trimmed(line.substr(found + key.size()));
      return std::from_chars(rest.data(), rest.data() + rest.size(), n).ec == std::errc();
    };
    if (number_behind("Code Region - b")) at = n;
    else if (number_behind("Total Cycles:") && at < cycles.size())
      cycles[at] = static_cast<double>(n);
    else if (number_behind("Instructions:") && at < instructions.size()) instructions[at] = n;
    return false;
  }
};

}  // namespace

InstructionPrice price_outside_mca(const CoreModel& core, const std::string& instruction) {
  const std::string_view text = trimmed(instruction), mnemonic = mnemonic_of(text);
  const std::string_view operands =
      trimmed(text.substr(std::min(text.find_first_of(" \t"), text.size())));
  if (mnemonic == "le" || mnemonic == "letp") return {0, false};
  // Of rounding and choosing floats LLVM's models say nothing.
  if ((mnemonic.starts_with("vrint") || mnemonic.starts_with("vsel")) && operands.starts_with('s'))
    return {1, false};
  // llvm-mca makes IT itself (-arm-implicit-it): one whose branch is left out would stand before
  // another instruction.
  if (mnemonic.starts_with("it") && mnemonic.find_first_not_of("te", 2) == mnemonic.npos)
    return {1, false};
  for (const std::string_view start : {"dls", "wls", "dlstp", "wlstp"})
    if (mnemonic.substr(0, mnemonic.find('.')) == start) return {core.loop_start, false};
  const double further = static_cast<double>(
      std::ranges::count(operands.substr(std::min(operands.find('{'), operands.size())), ','));
  const bool loads_several = mnemonic.starts_with("ldm") || mnemonic.starts_with("pop");
  const bool loads_pair = mnemonic.starts_with("ldrd");
  const double several = loads_several || loads_pair ? core.several + core.each_further_register *
                                                                          (loads_pair ? 1 : further)
                                                     : 0;
  if (is_branch(mnemonic, operands)) return {core.branch + several, loads_several};
  if (mnemonic.starts_with("vldr") || mnemonic.starts_with("vstr")) {
    const size_t bracket = operands.find('[');
    const bool gathers =
        bracket != operands.npos && operands.substr(bracket).find('q') != operands.npos;
    return {gathers ? core.gather : 0, true};
  }
  return {several, true};
}

std::optional<std::vector<BlockPrice>> price_blocks(const CoreModel& core,
                                                    std::span<const uint8_t> image,
                                                    std::span<const CodeBlock> blocks,
                                                    Diagnostics& diagnostics) {
  std::string trouble;
  const auto refuse = [&] {
    diagnostics.error("--cycles", trouble, "cycles.llvm",
                      trouble.ends_with("installed") ? "apt-get install llvm-19" : "");
    return std::nullopt;
  };
  Disassembly all;
  if (!disassemble(core, image, all, &trouble)) return refuse();
  std::vector<BlockPrice> prices(blocks.size());
  std::vector<double> extra(blocks.size(), 0);
  std::vector<std::vector<std::string>> code(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    auto at = all.find(blocks[b].address);
    uint32_t left = blocks[b].instructions;
    for (; left > 0 && at != all.end(); --left, ++at) {
      const InstructionPrice price = price_outside_mca(core, at->second);
      extra[b] += price.extra;
      if (price.is_for_mca) code[b].push_back(at->second);
    }
    prices[b].is_priced = left == 0;
  }
  McaReader reader{std::vector<double>(blocks.size()), std::vector<uint64_t>(blocks.size())};
  const std::string regions = regions_of(code);
  const std::vector<std::string> options = {"-mtriple=" + std::string(core.triple),
                                            "-mcpu=" + std::string(core.name),
                                            fmt::format("-iterations={}", kTurns),
                                            "-instruction-info=0",
                                            "-resource-pressure=0",
                                            "-skip-unsupported-instructions=any",
                                            "-arm-implicit-it=always"};
  if (!run_llvm(
          "llvm-mca-19", options,
          {reinterpret_cast<const uint8_t*>(regions.data()), regions.size()},
          [&](std::string_view line) { return reader.take(line); }, &trouble))
    return refuse();
  for (size_t b = 0; b < blocks.size(); ++b)
    prices[b].is_priced = prices[b].is_priced && reader.instructions[b] == kTurns * code[b].size();
  for (size_t b = 0; b < blocks.size(); ++b)
    prices[b].cycles =
        prices[b].is_priced ? reader.cycles[b] / kTurns + extra[b] : blocks[b].instructions;
  return prices;
}

}  // namespace deuteron
