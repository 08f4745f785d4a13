// SPDX-License-Identifier: Apache-2.0
// Source: QEMU 7.2's hw/arm/mps2-tz.c and armsse.c, as `info mtree` shows them (docs/firmware.md).
#pragma once
#include "runtime/ports/cortex_m/core.h"
#include "runtime/ports/region.h"

namespace deuteron {

inline constexpr uintptr_t kFpgaio = 0x59302000;
inline constexpr uint32_t kInstructionsPerTick = 50;           // 20 MHz
inline constexpr Region kCode = {0x10000000, 0x80000};         // instruction TCM, 512 KB
inline constexpr Region kRam = {0x30000000, 0x80000};          // data TCM, 512 KB
inline constexpr Region kPool[] = {{0x60000000, 0x10000000}};  // DDR, 256 MB

}  // namespace deuteron
