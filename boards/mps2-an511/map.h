// SPDX-License-Identifier: Apache-2.0
// Source: QEMU 7.2's hw/arm/mps2.c, as `info mtree` shows it (docs/firmware.md). QEMU has no
// Cortex-M0+ with room for a network. This board's Cortex-M3 executes all of an M0+'s instructions,
// and the compiler emits no others.
#pragma once
#include "runtime/ports/cortex_m/core.h"
#include "runtime/ports/region.h"

namespace deuteron {

inline constexpr uintptr_t kFpgaio = 0x40028000;
inline constexpr uint32_t kInstructionsPerTick = 40;           // 25 MHz
inline constexpr Region kCode = {0x00400000, 0x400000};        // SSRAM1, its first 4 MB
inline constexpr Region kRam = {0x20400000, 0x400000};         // SSRAM2 and 3, 4 MB
inline constexpr Region kPool[] = {{0x21000000, 0x01000000},   // PSRAM, 16 MB
                                   {0x20500000, 0x00300000}};  // SSRAM2 and 3, less the first MB

}  // namespace deuteron
