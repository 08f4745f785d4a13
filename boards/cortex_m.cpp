// SPDX-License-Identifier: Apache-2.0
// Part numbers: the technical reference manuals of the cores, "CPUID".
#include "boards/cortex_m.h"

#include <fmt/format.h>

namespace deuteron {
namespace {

enum class Dsp : uint8_t {
  never,
  always,
  asks
};  // asks: an option of the chip's maker, by ID_ISAR3
struct Part {
  uint32_t number;
  const char *name, *target;
  int architecture;
  Dsp dsp;
};
constexpr Part kParts[] = {
    {0xc20, "Cortex-M0", "cortex-m0", 6, Dsp::never},
    {0xc60, "Cortex-M0+", "cortex-m0+", 6, Dsp::never},
    {0xc21, "Cortex-M1", "cortex-m0", 6, Dsp::never},
    {0xc23, "Cortex-M3", "cortex-m3", 7, Dsp::never},
    {0xc24, "Cortex-M4", "cortex-m4", 7, Dsp::always},
    {0xc27, "Cortex-M7", "cortex-m7", 7, Dsp::always},
    {0xd20, "Cortex-M23", "cortex-m23", 6,
     Dsp::never},  // v8-M without the main extension: the instructions of v6-M and some
    {0xd21, "Cortex-M33", "cortex-m33", 8, Dsp::asks},
    {0xd31, "Cortex-M35P", "cortex-m35p", 8, Dsp::asks},
    {0xd22, "Cortex-M55", "cortex-m55", 8, Dsp::always},
    {0xd23, "Cortex-M85", "cortex-m85", 8, Dsp::always},
    {0xd24, "Cortex-M52", "cortex-m52", 8, Dsp::always},
};

}  // namespace

Core core_of(const CoreRegisters& r) {
  Core core;
  bool asks = false;
  const uint32_t number = r.cpuid >> 4 & 0xfff;
  for (const Part& p : kParts) {
    if (p.number != number) continue;
    core.name = fmt::format("{} r{}p{}", p.name, r.cpuid >> 20 & 15, r.cpuid & 15);
    core.target = p.target;
    core.architecture = p.architecture;
    core.has_dsp = p.dsp == Dsp::always;
    asks = p.dsp == Dsp::asks;
  }
  if (!core.is_known()) core.name = fmt::format("a core of part number {:#x}", number);
  if (core.architecture < 7) return core;
  core.has_cycle_counter = true;
  core.has_dsp |= asks && (r.isar3 >> 4 & 15) >= 3;
  core.has_fpu = (r.mvfr0 & 0xff0) != 0;
  core.has_mve = (r.mvfr1 >> 8 & 15) != 0;
  return core;
}

std::string_view own_isa(const Core& core) {
  return core.has_mve ? "mve" : core.has_dsp && core.has_fpu ? "dsp" : "scalar";
}

std::string_view runner_for(const Core& core, std::string_view isa) {
  if (!core.is_known()) return {};
  if (isa.empty()) isa = own_isa(core);
  if (isa == "mve") return core.has_mve && core.has_fpu ? "cortex-m55" : "";
  if (isa == "dsp")
    return !core.has_dsp || !core.has_fpu ? ""
           : core.architecture == 8       ? "cortex-m33"
                                          : "cortex-m4";
  return core.architecture == 6   ? "cortex-m0+"
         : core.architecture == 7 ? "cortex-m3"
                                  : "cortex-m33+nodsp";
}

}  // namespace deuteron
