// SPDX-License-Identifier: Apache-2.0
#include "cli/board_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/files/temporary_folder.h"
#include "boards/watched_process.h"
#include "cli/firmware_project.h"
#include "write/firmware/embedded_sources.h"

namespace deuteron {
namespace {

constexpr double kBuildSeconds = 600;
constexpr const char* kTools =
    "apt-get install cmake make gcc-arm-none-eabi libnewlib-arm-none-eabi "
    "libstdc++-arm-none-eabi-newlib";
constexpr std::string_view kModel = "model", kMemory = "memory of models",
                           kProduct = "product, beside the model";

// 131072, 128K or 1M.
std::optional<uint64_t> bytes_of(std::string_view text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : 0;
  if (error != std::errc{} || (!unit.empty() && shift == 0) || n == 0 || n > uint64_t{1} << 32)
    return std::nullopt;
  return n << shift;
}

// "kernel dense    2692 of flash, 0 of RAM" or "load    5712 of stack at most", as the project's
// build prints them.
void take_line(std::string_view line, BoardFit& fit) {
  const size_t gap = line.find("  ");
  if (gap == line.npos || gap == 0) return;
  const std::string name(line.substr(0, gap));
  const char *at = line.data() + line.find_first_not_of(' ', gap), *const end =
                                                                       line.data() + line.size();
  uint64_t first = 0, second = 0;
  const auto [behind, error] = std::from_chars(at, end, first);
  if (error != std::errc{}) return;
  constexpr std::string_view kFlash = " of flash, ", kStack = " of stack at most";
  const std::string_view rest(behind, static_cast<size_t>(end - behind));
  if (rest == kStack) fit.stack = std::max(fit.stack, first);
  if (!rest.starts_with(kFlash) || name == kProduct) return;
  if (std::from_chars(behind + kFlash.size(), end, second).ec == std::errc{})
    fit.parts[name] = {first, second};
}

// False, with a diagnostic: the tool is not there, or it failed.
bool run_tool(const std::vector<std::string>& command, const std::string& folder,
              const std::function<void(std::string_view)>& on_line, Diagnostics& diagnostics) {
  std::string said;
  const auto keep = [&](std::string_view line) {
    on_line(line);
    if (said.size() < 4000) said += fmt::format("\n    {}", line);
    return false;
  };
  const ProcessEnd end = run_watched(command, {}, kBuildSeconds, keep, HostFiles::open, folder);
  if (end.start_error == 0 && !end.timed_out && end.exit_code == 0) return true;
  if (end.start_error != 0)
    diagnostics.error(
        "--board",
        fmt::format("`{}` does not start: {}", command[0], std::strerror(end.start_error)),
        "board.fit.tool", kTools);
  else
    diagnostics.error(
        "--board",
        fmt::format("the image cannot be built: `{}` {}{}", command[0],
                    end.timed_out ? "had no end" : fmt::format("ended with code {}", end.exit_code),
                    said),
        "board.fit.build", kTools);
  return false;
}

// The image's largest parts, as "model 90816, kernel dense 3816".
std::string largest(const BoardFit& fit, uint64_t BoardFit::Part::*kind) {
  std::vector<std::pair<uint64_t, std::string>> parts;
  for (const auto& [name, part] : fit.parts) parts.emplace_back(part.*kind, name);
  if (kind == &BoardFit::Part::ram) parts.emplace_back(fit.stack, "stack");
  std::sort(parts.rbegin(), parts.rend());
  std::string text;
  for (size_t k = 0; k < parts.size() && k < 3 && parts[k].first > 0; ++k)
    text += fmt::format("{}{} {}", k ? ", " : "", parts[k].second, parts[k].first);
  return text;
}

}  // namespace

std::optional<BoardMemory> board_memory(const std::string& text, Diagnostics& diagnostics) {
  const size_t comma = std::min(text.find(','), text.size());
  BoardMemory m;
  m.board = board_called(text.substr(0, comma), diagnostics);
  if (!m.board) return std::nullopt;
  if (!m.board->emulated)
    return diagnostics.error("--board " + text, "an image for it needs the vendor's SDK",
                             "board.fit.vendor",
                             "use an emulated board with the same core and the memory of yours: "
                             "mps2-an505,flash=512K,ram=128K"),
           std::nullopt;
  const RuntimeSources runtime = embedded_sources();
  m.flash = board_region(runtime, m.board->name, "CODE");
  m.ram =
      board_region(runtime, m.board->name, "RAM") + board_region(runtime, m.board->name, "POOL");
  for (std::string_view rest = std::string_view(text).substr(comma); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(item.size());
    const size_t equals = item.find('=');
    const auto bytes = equals == item.npos ? std::nullopt : bytes_of(item.substr(equals + 1));
    const std::string_view name = item.substr(0, equals);
    if (!bytes || (name != "flash" && name != "ram"))
      return diagnostics.error("--board " + text, fmt::format("`{}` is not a memory", item),
                               "board.fit.memory",
                               "flash=BYTES and ram=BYTES, with K or M behind the number if you "
                               "like: mps2-an386,flash=128K,ram=32K"),
             std::nullopt;
    (name == "flash" ? m.flash : m.ram) = *bytes;
  }
  return m;
}

std::optional<BoardFit> fit_board(const BoardMemory& memory, const ProgramFile& file,
                                  Diagnostics& diagnostics) {
  const RuntimeSources runtime = embedded_sources();
  FirmwareProject project = project_for(*memory.board);
  if (!add_model(file, {}, project, diagnostics)) return std::nullopt;
  const std::optional<FirmwareMemory> placed = place(project, runtime, diagnostics);
  if (!placed) return std::nullopt;
  const TemporaryFolder folder("board");
  if (!folder.ok())
    return diagnostics.error("--board", "no temporary folder can be made", "board.fit.folder",
                             "set TMPDIR to a folder that can be written"),
           std::nullopt;
  const std::string source = folder / "firmware", build = folder / "build";
  if (!write_folder(source, firmware_files(project, *placed, runtime), false, diagnostics))
    return std::nullopt;
  BoardFit fit;
  const auto ignore = [](std::string_view) {};
  const auto take = [&](std::string_view line) { take_line(line, fit); };
  if (!run_tool({"cmake", "-S", source, "-B", build}, folder.path(), ignore, diagnostics) ||
      !run_tool({"cmake", "--build", build, "--parallel"}, folder.path(), take, diagnostics))
    return std::nullopt;
  // The sample that the image runs the model on is not the user's.
  fit.parts[std::string(kModel)].flash = (file.bytes.size() + 15) / 16 * 16;
  for (const auto& [name, part] : fit.parts) fit.flash += part.flash, fit.ram += part.ram;
  fit.ram += fit.stack;
  return fit;
}

bool check_fit(const BoardMemory& memory, const BoardFit& fit, Diagnostics& diagnostics) {
  const auto check = [&](const char* what, uint64_t measured, uint64_t limit,
                         uint64_t BoardFit::Part::*kind, const char* fix) {
    if (measured > limit)
      diagnostics.add(
          {Severity::error, "board " + std::string(memory.board->name),
           fmt::format("the image has {} bytes too many for the {}; the largest parts: {}",
                       measured - limit, what, largest(fit, kind)),
           std::to_string(measured), std::to_string(limit), "board.fit.small", fix});
  };
  check("flash", fit.flash, memory.flash, &BoardFit::Part::flash,
        "a smaller model, --precision int4, or C without a loader: compile --emit c");
  check("RAM", fit.ram, memory.ram, &BoardFit::Part::ram, "--max-ram least, or a smaller model");
  return fit.flash <= memory.flash && fit.ram <= memory.ram;
}

std::string text_of(const BoardMemory& memory, const BoardFit& fit) {
  const auto part = [&](std::string_view name) {
    const auto found = fit.parts.find(std::string(name));
    return found == fit.parts.end() ? BoardFit::Part{} : found->second;
  };
  uint64_t kernels = 0, loader = 0;
  for (const auto& [name, p] : fit.parts) {
    if (name.starts_with("kernel ")) kernels += p.flash;
    if (name.starts_with("loader")) loader += p.flash;
  }
  const uint64_t model = part(kModel).flash, planned = part(kMemory).ram;
  return fmt::format(
      "  board          {}: flash {} of {} bytes: model {}, kernels {}, loader {}, all else {}\n"
      "                 RAM {} of {} bytes: memory of the model {}, stack {} at most, all else "
      "{}\n",
      memory.board->name, fit.flash, memory.flash, model, kernels, loader,
      fit.flash - model - kernels - loader, fit.ram, memory.ram, planned, fit.stack,
      fit.ram - planned - fit.stack);
}

}  // namespace deuteron
