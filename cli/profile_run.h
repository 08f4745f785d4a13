// SPDX-License-Identifier: Apache-2.0
// A profile of runs on this machine: the runtime's tracer with this machine's clock, and the dump
// that it comes to.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "runtime/trace.h"

namespace deuteron {

struct HostProfile {
  uint32_t most_events = 0;  // 0: as many as there are
  Trace trace;
  std::vector<uint8_t> dump;  // an ETDump, after end()
  uint64_t events = 0, dropped = 0;
  bool hides_kernels = false;

  // In this order, around loading and running.
  bool begin(const std::string& path, Diagnostics& diagnostics);
  void make_room(const Program& program, int64_t samples);
  void end(const Program& program, File file);

 private:
  std::vector<TraceEvent> buffer_;
};

// Events of one run of a loaded program.
uint64_t events_of_run(const Program& program);

// Whether a delegate of the program runs kernels that the profile will not show: it was compiled
// without --profile.
bool hides_npu_kernels(const Program& program);

}  // namespace deuteron
