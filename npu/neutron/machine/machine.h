// SPDX-License-Identifier: Apache-2.0
// The parameters of the machine, as a target file gives them and as they stand in the microcode.
#pragma once
#include <cstdint>

namespace deuteron::neutron {

// What the machine is like. The figures are those of the target ([npu.machine]);
// docs/neutron-machine.md says where each comes from. _q8: in units of 1/256.
struct Machine {
  int32_t units = 0;         // dot-product units side by side, an output channel each
  int32_t lanes = 0;         // multiply-adds of a unit in a cycle
  int32_t clock_hz = 0;      // NPU and CPU
  int32_t accumulators = 0;  // of a unit: output elements that share one pass over the weights
  // bytes a cycle between the machine and SRAM, reading and writing together
  int32_t sram_bytes_q8 = 0;
  int32_t fetch_bytes_q8 = 0;  // bytes a cycle that the CPU copies from external flash to SRAM
  int32_t setup_cycles = 0;    // of a kernel: the CPU decodes the call and writes the registers
  // of a tile of `accumulators` results for `units` channels: fill, drain, requantize
  int32_t tile_cycles = 0;
  int32_t depthwise_lanes = 0;     // of a unit's lanes, those that work in a depthwise convolution
  int32_t vector_elements_q8 = 0;  // elements a cycle of the element-wise kernels
  int32_t softmax_cycles_q8 = 0;   // for each element of a softmax
  int32_t fetch_setup_cycles = 0;  // of a copy from external flash
  int32_t reserved[4] = {};
};

}  // namespace deuteron::neutron
