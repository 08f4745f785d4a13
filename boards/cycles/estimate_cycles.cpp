// SPDX-License-Identifier: Apache-2.0
#include "boards/cycles/estimate_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "boards/cycles/price_blocks.h"
#include "boards/symbols.h"

namespace deuteron {
namespace {

using Runs = std::map<CodeBlock, uint64_t>;

// The numbers of a line; false: it has others than `count`.
bool numbers_of(std::string_view line, uint64_t* address, uint64_t* numbers, int count) {
  const char *at = line.data(), *const end = at + line.size();
  std::from_chars_result r = std::from_chars(at, end, *address, 16);
  for (int i = 0; i < count && r.ec == std::errc() && r.ptr < end && *r.ptr == ' '; ++i)
    r = std::from_chars(r.ptr + 1, end, numbers[i]);
  return r.ec == std::errc() && r.ptr == end;
}

// How often each block ran in each call; of several samples all together. Empty: not what the
// plugin writes for so many calls.
std::vector<Runs> runs_by_call(std::span<const uint8_t> blocks, uint64_t samples, size_t calls) {
  std::vector<Runs> list(calls);
  std::string_view text(reinterpret_cast<const char*>(blocks.data()), blocks.size());
  uint64_t call = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    uint64_t address = 0, n[2] = {};
    if (calls == 0) return {};
    if (line.starts_with("wait ")) continue;
    if (line == "end") ++call;
    else if (numbers_of(line, &address, n, 2))
      list[call % calls][{static_cast<uint32_t>(address), static_cast<uint32_t>(n[0])}] += n[1];
    else return {};
  }
  return call == samples * calls ? list : std::vector<Runs>{};
}

// "deuteron::conv2d_s8(...)+0x12" without its parameters and offset.
std::string function_of(std::span<const uint8_t> image, uint32_t address) {
  std::string name = function_at(image, address);
  if (name.empty()) return fmt::format("{:#x}", address);
  name.resize(name.rfind('+'));
  static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(kAnonymous)) != name.npos;) name.erase(at, kAnonymous.size());
  return name.substr(0, name.find('('));
}

}  // namespace

std::optional<CycleEstimate> estimate_cycles(const CoreModel& core, std::span<const uint8_t> image,
                                             std::span<const uint8_t> blocks, uint64_t samples,
                                             const std::vector<std::string>& calls,
                                             Diagnostics& diagnostics) {
  const std::vector<Runs> by_call = runs_by_call(blocks, samples, calls.size());
  if (by_call.empty() && !calls.empty()) {
    diagnostics.error("--cycles", "the board did not mark its calls", "cycles.marks",
                      "run it without --runner");
    return std::nullopt;
  }
  Runs whole;
  for (const Runs& runs : by_call)
    for (const auto& [block, n] : runs) whole[block] += n;
  std::vector<CodeBlock> list;
  for (const auto& [block, n] : whole) list.push_back(block);
  const std::optional<std::vector<BlockPrice>> prices =
      price_blocks(core, image, list, diagnostics);
  if (!prices) return std::nullopt;

  CycleEstimate e;
  std::map<CodeBlock, double> cycles_of;
  std::map<std::string, CycleCount> functions;
  const double each = 1.0 / static_cast<double>(std::max<uint64_t>(samples, 1));
  const auto add = [&](CycleCount& to, const CodeBlock& block, uint64_t n) {
    to.instructions += n * block.instructions;
    to.cycles += static_cast<double>(n) * cycles_of[block] * each;
  };
  for (size_t b = 0; b < list.size(); ++b) {
    cycles_of[list[b]] = (*prices)[b].cycles;
    add(functions[function_of(image, list[b].address)], list[b], whole[list[b]]);
    if (!(*prices)[b].is_priced)
      e.not_priced += whole[list[b]] * list[b].instructions / std::max<uint64_t>(samples, 1);
  }
  for (size_t c = 0; c < calls.size(); ++c) {
    e.calls.push_back({calls[c]});
    for (const auto& [block, n] : by_call[c]) add(e.calls.back(), block, n), add(e.whole, block, n);
    e.calls.back().instructions /= std::max<uint64_t>(samples, 1);
  }
  e.whole.instructions /= std::max<uint64_t>(samples, 1);
  for (auto& [name, count] : functions) {
    count.name = name;
    count.instructions /= std::max<uint64_t>(samples, 1);
    e.functions.push_back(std::move(count));
  }
  std::ranges::stable_sort(e.functions, std::ranges::greater{}, &CycleCount::cycles);
  return e;
}

std::optional<CycleEstimate> estimate_cycles(const CoreModel& core, std::span<const uint8_t> image,
                                             const EmulatedRun& run, Diagnostics& diagnostics) {
  std::vector<std::string> calls;
  if (!run.steps.empty())
    for (const StepCount& s : run.steps[0]) calls.push_back(s.op);
  return estimate_cycles(core, image, run.blocks, run.steps.size(), calls, diagnostics);
}

}  // namespace deuteron
