// SPDX-License-Identifier: Apache-2.0
// Where the events of a run lie in time and inside one another: from that comes what each took for
// itself.
#pragma once
#include <vector>

#include "explain/inspect/npu_events.h"
#include "explain/traces/read_etdump.h"

namespace deuteron {

// What the runtime says of itself, no kernel.
bool is_framework(const DumpEvent& e);
inline bool is_delegate_call(const DumpEvent& e) { return e.name == "DELEGATE_CALL"; }
// Around a kernel's own event, by the runtime; the event of the kernel where that has none.
inline bool is_call_of_kernel(const DumpEvent& e) {
  return e.name.ends_with("_CALL") && !is_delegate_call(e);
}

struct ProfileClocks {
  bool has_npu = false;     // the NPU counts by a clock of its own
  bool comparable = false;  // ticks of both can be added
  double npu_to_cpu = 1;    // ticks of the CPU in one of the NPU
};

// One event, placed: what it took for itself, and on a time axis without wraps.
struct PlacedEvent {
  const DumpEvent* event;
  u64 start = 0, end = 0, own = 0;
  bool npu = false;
  bool is_writing = false;  // of the profile
  bool is_runtime = false;  // the runtime's own work
  bool inside_method = false;
  i64 parent = -1;  // in the same list; -1: none
  i64 row = -1;     // of the table that its reader makes
};

// In the order of the run. `mixed`: times of the writing of a profile are sums of both clocks'
// ticks, and count for neither.
std::vector<PlacedEvent> place_events(const DumpRun& run, const NpuEvents& npu,
                                      const ProfileClocks& clocks, bool mixed);

}  // namespace deuteron
