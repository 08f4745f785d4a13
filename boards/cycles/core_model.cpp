// SPDX-License-Identifier: Apache-2.0
#include "boards/cycles/core_model.h"

namespace deuteron {

// M3 and M33 have no model of their own in LLVM 19: it takes the M4's for them, which has a load of
// several registers as one cycle. On M3 and M4 such a load takes 1 + N cycles, LDRD too (Cortex-M4
// technical reference manual, 100166, table 3-1; Cortex-M3, DDI 0337, table 3-1). Arm gives no
// table for M33, M7, M55 and M85: a cycle for each register, and of the three with wider buses what
// LLVM has.
std::span<const CoreModel> core_models() {
  static constexpr CoreModel kCores[] = {
      // name        triple                       runs               branch loop gather register
      // several
      {"cortex-m3", "thumbv7m-none-eabi", "scalar", 2, 0, 0, 1, 1},
      {"cortex-m4", "thumbv7em-none-eabi", "scalar dsp", 2, 0, 0, 1, 1},
      {"cortex-m33", "thumbv8m.main-none-eabi", "scalar dsp", 2, 0, 0, 1, 0},
      {"cortex-m7", "thumbv7em-none-eabi", "scalar dsp", 2, 0, 0, 0, 0},
      {"cortex-m55", "thumbv8.1m.main-none-eabi", "scalar dsp mve", 2, 1, 2, 0, 0},
      {"cortex-m85", "thumbv8.1m.main-none-eabi", "scalar dsp mve", 2, 1, 2, 0, 0},
  };
  return kCores;
}

const CoreModel* find_core(std::string_view name) {
  for (const CoreModel& c : core_models())
    if (c.name == name) return &c;
  return nullptr;
}

bool runs_on(const CoreModel& core, std::string_view isa) {
  return core.runs.find(isa) != core.runs.npos;
}

}  // namespace deuteron
