// SPDX-License-Identifier: Apache-2.0
// Firmware projects on the emulated boards: exact counts, text and files by semihosting. What the
// board's own processor does to play the NPU is counted apart.
#include "runtime/ports/firmware_port.h"

#include "runtime/ports/counter.h"
#include "runtime/ports/semihosting.h"
#ifdef DEUTERON_NEUTRON_MODEL
#include "npu/neutron/machine/simulation.h"
#endif

namespace deuteron {
namespace {

int outputs = -1;

// A file named on the command line as `outputs=FILE` takes the bytes of all outputs; -1: none.
int output_file() {
  char line[256];
  if (!command_line(line, sizeof line)) return -1;
  for (const char* at = line; *at != 0; at++) {
    const char* wanted = "outputs=";
    const char* c = at;
    while (*wanted != 0 && *wanted == *c) wanted++, c++;
    if (*wanted == 0) return open_to_write(c);
  }
  return -1;
}

}  // namespace

void start_board() {
#ifdef DEUTERON_NEUTRON_MODEL
  alignas(8) static uint8_t parts[DEUTERON_NPU_CALLS * kPartBytes];
  use_parts(parts, sizeof parts);
  neutron::simulate_in = count_part;
#endif
  outputs = output_file();
}

extern const char* const kCostUnit = "instructions";

RunCost cost_of(void (*function)(void*), void* argument) {
  const uint64_t all = count_instructions(function, argument);
  const Parts parts = take_parts();
  return {all - parts.instructions - parts.overhead, parts.instructions};
}

bool keep_output(const void* data, uint32_t bytes) {
  return outputs < 0 || write_all(outputs, data, bytes);
}

BoardExit stop_board(BoardExit end) { return end; }

}  // namespace deuteron
