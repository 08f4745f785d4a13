#include "boards/cycles/core_model.h"

namespace deuteron {

// M3 and M33 have no model of their own in LLVM 19: it takes the M4's for them.
std::span<const CoreModel> core_models() {
  static constexpr CoreModel kCores[] = {
      // name        triple                       runs               branch loop gather pair register
      {"cortex-m3", "thumbv7m-none-eabi", "scalar", 2, 0, 0, 2, 1},
      {"cortex-m4", "thumbv7em-none-eabi", "scalar dsp", 2, 0, 0, 2, 1},
      {"cortex-m33", "thumbv8m.main-none-eabi", "scalar dsp", 2, 0, 0, 1, 1},
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

bool runs_on(const CoreModel& core, std::string_view isa) { return core.runs.find(isa) != core.runs.npos; }

}  // namespace deuteron
