// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/c_package.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "base/check.h"
#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

constexpr std::array kPackages = {
    CPackage{"arduino", "an Arduino library", arduino_files},
    CPackage{"cmsis-pack", "a CMSIS-Pack", cmsis_pack_files, ".pack", cmsis_pack_name},
    CPackage{"mlperf-tiny",
             "firmware for MLPerf Tiny's runner",
             mlperf_tiny_files,
             {},
             nullptr,
             mlperf_tiny_complaint},
    CPackage{"zephyr", "a Zephyr module", zephyr_files},
};

}  // namespace

std::span<const CPackage> c_packages() { return kPackages; }

PackageFiles package_sources(const COutput& o, const RuntimeSources& runtime) {
  DEUTERON_CHECK(!o.npu && o.weights == CWeights::array, o.programs.front().name);
  const std::string own = fmt::format("{}/", kCSources);
  PackageFiles files;
  for (auto& [path, content] : c_output_files(o, runtime)) {
    if (path == "CMakeLists.txt" || path == "README.md" || path == "LICENSE" ||
        path.ends_with(".cmake"))
      continue;
    if (path == kSelectionFile) {
      files[path] = content;
      continue;
    }
    // The one include folder is src/, which is therefore the root of the kernels' sources.
    const std::string to =
        fmt::format("src/{}", path.starts_with(own) ? path.substr(own.size()) : path);
    const std::string device =
        kept_operators_of(o).empty() ? "" : fmt::format("#define {} 1\n", kCDevice);
    files[to] = path.ends_with(".cpp") ? std::string(kCOptions) + device + content : content;
  }
  return files;
}

std::string package_sentence(const CProgram& p) {
  return fmt::format(
      "{} call{} of kernels, {} bytes of constants, {} bytes of memory for a run, no heap.",
      p.calls.size(), p.calls.size() == 1 ? "" : "s", p.constants.size(), p.arena_bytes);
}

std::string package_models(const COutput& o) {
  std::string text = "| model | weights (flash) | arena (RAM, shared) |\n| --- | ---: | ---: |\n";
  for (const CProgram& p : o.programs)
    text += fmt::format("| {} | {} | {} |\n", p.name, p.constants.size(), p.arena_bytes);
  return text;
}

std::string package_core(const COutput& o) {
  constexpr std::string_view kCpu = "-mcpu=cortex-";
  const size_t at = o.flags.find(kCpu);
  if (at == o.flags.npos) return "";
  std::string core = o.flags.substr(at + kCpu.size());
  core.resize(std::min(core.find_first_of("+ "), core.size()));
  if (core.ends_with("plus")) core.replace(core.size() - 4, 4, "+");
  core[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(core[0])));
  return "Cortex-" + core;
}

}  // namespace deuteron
