// SPDX-License-Identifier: Apache-2.0
// Source: QEMU 7.2's hw/riscv/virt.c: 128 MB of memory, unless -m says otherwise. Its core is of
// the cheapest kind: integers, multiplication, atomics, short instructions.
#pragma once
#include "runtime/ports/region.h"
#include "runtime/ports/riscv/core.h"

namespace deuteron {

inline constexpr uint32_t kInstructionsPerTick = 1;            // its own counter counts each
inline constexpr Region kCode = {0x80000000, 0x400000};        // 4 MB
inline constexpr Region kRam = {0x80400000, 0x400000};         // 4 MB
inline constexpr Region kPool[] = {{0x80800000, 0x07800000}};  // 120 MB

}  // namespace deuteron
