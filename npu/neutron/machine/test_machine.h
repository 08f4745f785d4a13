// SPDX-License-Identifier: Apache-2.0
// The machine of the i.MX RT700, for tests and benchmarks that read no target file.
// targets/target_test.cpp holds it against the target's.
#pragma once
#include "npu/neutron/machine/machine.h"

namespace deuteron::neutron {

inline Machine n3_64() {
  Machine m;
  m.units = m.lanes = 8, m.clock_hz = 324000000, m.accumulators = 16;
  m.sram_bytes_q8 = 16 * 256, m.fetch_bytes_q8 = 189, m.fetch_setup_cycles = 200;
  m.setup_cycles = 2000, m.tile_cycles = 8, m.depthwise_lanes = 1;
  m.vector_elements_q8 = m.softmax_cycles_q8 = 8 * 256;
  return m;
}

}  // namespace deuteron::neutron
