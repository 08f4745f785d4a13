// SPDX-License-Identifier: Apache-2.0
// Which Cortex-M it is, by its identification registers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deuteron {

// As read: Armv7-M and Armv8-M Architecture Reference Manuals (DDI 0403, B3.2.3 and B4; DDI 0553,
// D1.2). 0: not there.
struct CoreRegisters {
  uint32_t cpuid = 0, isar3 = 0, mvfr0 = 0, mvfr1 = 0;
};

struct Core {
  std::string name;      // "Cortex-M4 r0p1"
  std::string target;    // "cortex-m4"; "": one that we do not know
  int architecture = 0;  // 6, 7, 8 (v8-M with the main extension)
  bool has_dsp = false, has_fpu = false, has_mve = false;
  bool has_cycle_counter = false;  // its architecture has one; the chip may lack it
  bool is_known() const { return architecture != 0; }
};
inline constexpr uint32_t kCpuidAddress = 0xe000ed00;
Core core_of(const CoreRegisters& registers);

// The target of the boards (boards/boards.txt) whose runner this core can run for a program of
// `isa` ("": its own). "": none.
std::string_view runner_for(const Core& core, std::string_view isa);
std::string_view own_isa(const Core& core);

}  // namespace deuteron
