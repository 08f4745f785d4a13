// SPDX-License-Identifier: Apache-2.0
// Source: QEMU 7.2's hw/arm/mps2-tz.c and armsse.c, as `info mtree` shows them (docs/firmware.md).
#pragma once
#include "runtime/ports/cortex_m/core.h"
#include "runtime/ports/region.h"

namespace deuteron {

inline constexpr uintptr_t kFpgaio = 0x50302000;
inline constexpr uint32_t kInstructionsPerTick = 50;           // 20 MHz
inline constexpr Region kCode = {0x10000000, 0x400000};        // SSRAM1, 4 MB
inline constexpr Region kRam = {0x38000000, 0x400000};         // SSRAM2 and 3, 4 MB
inline constexpr Region kPool[] = {{0x80000000, 0x01000000},   // PSRAM, 16 MB
                                   {0x38100000, 0x00300000}};  // SSRAM2 and 3, less the first MB

}  // namespace deuteron
