// SPDX-License-Identifier: Apache-2.0
// What a call of a CPU kernel costs, as lines of the target file. The formula stands beside its
// data: docs/cpu-cost.md.
#pragma once
#include <cstdint>
#include <string>

namespace deuteron {

// What a call does, in the counts that its instructions depend on.
struct CpuWork {
  int64_t macs = 0;       // multiply-adds
  int64_t results = 0;    // elements that it writes
  int64_t operands = 0;   // elements of activations that it reads, each once
  int64_t constants = 0;  // bytes of constants that it reads
  int64_t taps = 0;       // elements of windows that it walks over: of a convolution for all its
                          // channels together, of a pool for each
  int64_t windows = 0;    // places of an image, or rows: results without their last axis
  int64_t lines = 0;      // pieces that it reads one after the other: of a window its rows, of a
                          // concatenation the parts of each row
};

// One line of [cpu.cost]: instructions. All but `call` are in 1/256.
struct CpuKernelCost {
  std::string kernel;  // "cortex_m::quantized_conv2d"; "*": every kernel without a line of its own
  int64_t call = 0;
  int64_t mac = 0, result = 0, operand = 0, tap = 0, constant = 0, window = 0, line = 0;
  bool operator==(const CpuKernelCost&) const = default;

  int64_t instructions(const CpuWork& w) const {
    return call + (mac * w.macs + result * w.results + operand * w.operands + tap * w.taps +
                   constant * w.constants + window * w.windows + line * w.lines + 128) /
                      256;
  }
};

// One line of [cpu.cycles]: what the instructions of a kernel take on this core.
struct CpuKernelCycles {
  std::string kernel;    // as above
  int64_t of_256 = 256;  // cycles of 256 instructions
  bool operator==(const CpuKernelCycles&) const = default;

  int64_t cycles(int64_t instructions) const {
    return instructions / 256 * of_256 + (instructions % 256 * of_256 + 128) / 256;
  }
};

}  // namespace deuteron
