// SPDX-License-Identifier: Apache-2.0
// Runs a compiled program on a Cortex-M behind a GDB server: the runner of the emulated boards
// (boards/runner), linked for this program where the chip has memory, started there and served at a
// breakpoint. Nothing of the chip is set up: its clocks are those after reset. In the end the chip
// is reset and goes on with its own firmware.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "boards/chip_memory.h"
#include "boards/emulate.h"

namespace deuteron {

struct ProbeOptions {
  EmulateOptions run;  // by_step, the limit, the profile; what is QEMU's does not matter here
  ChipMemory memory;
  bool writes_flash = false;         // the runner and the program go to flash
  bool caches_on = false;            // else they stay as they are found
  std::string isa;                   // of the program; "": it does not say
  std::vector<std::string> kernels;  // that it calls, with overload
};

struct ProbeRun {
  EmulatedRun run;    // `instructions` are cycles
  std::string core;   // "Cortex-M4 r0p1"
  std::string clock;  // "DWT cycle counter"; "" : nothing counts
  std::string
      found;  // of a program that the board's own firmware holds: ", program of its firmware"
};

// `where`: "gdb:HOST:PORT".
ProbeRun run_on_probe(std::string_view where, std::span<const uint8_t> program,
                      std::span<const Sample> samples, const ProbeOptions& options);

}  // namespace deuteron
