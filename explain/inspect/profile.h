// SPDX-License-Identifier: Apache-2.0
// A trace attributed: by kernel, by the user's operators, by module. Every tick is in exactly one
// row of each table, so each table's totals add up to the whole.
//
// Own time. Events lie inside one another (a kernel in the runtime's call of it, that in the
// method). A row has what its events took less what lies inside them by the same clock; the rest of
// the method is the row "(runtime)".
//
// Operators. A kernel that computes several operators is one row, "a + b", and is not divided:
// nothing measured says how. An operator that is computed by several kernels is one row for each
// group of operators that it shares a kernel with. Kernels that the compiler added count for the
// operators that they serve; `added_ticks` says how much that is. A delegate's call has a row of
// its own for what its kernels do not explain.
//
// Modules. A group belongs to the innermost module that all its operators lie in; where they have
// none in common, to "c1 + b1", its (at most three) operators' modules together.
//
// Clocks. The NPU may count by a clock of its own; a row is by one clock, and shares are of the
// ticks of that clock. Ticks of both clocks are compared only where a real NPU ran beside a CPU
// whose clock counts cycles, and both rates are known.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "explain/traces/read_etdump.h"
#include "explain/traces/source_map.h"

namespace deuteron {

struct ProfileRow {
  std::string name;    // kernel, "conv1 + relu1", or module
  std::string detail;  // of a kernel: its operators; of a group: their targets
  std::string module, placement, bound;
  std::vector<i64> operators;  // ids in the map; of modules none
  i64 instruction = -1, delegate_id = -1;
  bool npu = false;    // counted by the NPU's clock
  bool added = false;  // the whole row is what the compiler added
  i64 calls = 0;
  u64 min = 0, median = 0,
      max = 0;  // of a kernel: over its calls; else over the runs, each the sum of its calls
  u64 total = 0, added_ticks = 0;
  u64 nested_total = 0;                              // of a module: with the modules inside it
  double share = 0;                                  // 0 to 1
  i64 macs = -1, bytes = -1, predicted_cycles = -1;  // of all calls together; -1: not known
  i64 assumed_calls = 0, apart_cycles = 0;  // of them: of kernels that the open machine is assumed
                                            // to have, and of what they would be
};

// An event, where a picture draws it. The NPU's events lie inside their delegate's call: at their
// own rate where the clocks' rates are known, else stretched to fill it.
struct TimeSlice {
  i64 run = 0;
  std::string name;
  i64 row = -1;  // in `kernels`; -1: the runtime's
  i64 instruction = -1;
  bool npu = false;
  double start = 0, end = 0;  // in ticks of the CPU's clock since the first
  u64 ticks = 0;              // as measured
};

struct Profile {
  std::string program_id, model, target;
  DumpClock cpu, npu;
  bool has_map = false;
  bool npu_is_open_model = false;  // its ticks are the predicted ones by construction
  bool comparable = false;  // the clocks' rates are known, so that ticks of both can be added
  i64 runs = 0;             // calls of the method
  u64 dropped = 0;
  u64 cpu_total = 0, npu_total = 0;                     // of all runs
  std::vector<ProfileRow> kernels, operators, modules;  // each sorted by share, largest first
  std::vector<ProfileRow> around;  // loading, and whatever else is outside the method's calls
  std::vector<TimeSlice> slices;   // in order of time
};

// `map` may be absent: kernels' names only. An id that differs from the map's is an error with
// both.
std::optional<Profile> attribute(const Dump& trace, const SourceMap* map, const std::string& name,
                                 Diagnostics& diagnostics);

}  // namespace deuteron
