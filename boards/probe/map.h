// SPDX-License-Identifier: Apache-2.0
// The runner on a chip that no build knows, behind a debug probe or a serial port: the host says at
// upload where memories are (boards/place_image.h), and what times the calls.
#pragma once
#include "runtime/ports/cortex_m/core.h"
#include "runtime/ports/region.h"

extern "C" {
extern const deuteron::Region
    deuteron_pool[4];  // for models and tensors; those that are not used have no bytes
extern const uint32_t deuteron_clock_hz;  // of the processor; 0: not known
extern int32_t (*const deuteron_agent)(uint32_t number,
                                       const void* block);  // of the chip's firmware; null: a probe
extern const uint32_t deuteron_clock_kind;  // 0: none, 1: DWT's cycle counter, 2: SysTick
}

namespace deuteron {

inline constexpr const Region (&kPool)[4] = deuteron_pool;

}  // namespace deuteron
