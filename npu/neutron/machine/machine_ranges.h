// SPDX-License-Identifier: Apache-2.0
// What each parameter may be: of a target file, and of microcode. Cycles are products of them and
// of extents, which stay within int64.
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

struct MachineRange {
  int32_t Machine::*field;
  int32_t low, high;
};
inline constexpr MachineRange kMachineRanges[] = {
    {&Machine::units, 8, 8},
    {&Machine::lanes, 8, 8},
    {&Machine::clock_hz, 1, INT32_MAX},
    {&Machine::accumulators, 1, 1 << 20},
    {&Machine::sram_bytes_q8, 1, 1 << 20},
    {&Machine::fetch_bytes_q8, 1, 1 << 20},
    {&Machine::setup_cycles, 0, 1 << 20},
    {&Machine::tile_cycles, 0, 1 << 20},
    {&Machine::depthwise_lanes, 1, 8},
    {&Machine::vector_elements_q8, 1, 1 << 20},
    {&Machine::softmax_cycles_q8, 0, 1 << 20},
    {&Machine::fetch_setup_cycles, 0, 1 << 20},
};

}  // namespace deuteron::neutron
