// SPDX-License-Identifier: Apache-2.0
// Which events of a run are the NPU's, by its own clock, and which of them are the writing of the
// profile.
//
// Our tracer says of its files that their delegates count by a clock of their own. The stock
// NeutronBackend says nothing: its events have no name, a number from 0 on and the kernel's kind as
// one byte of metadata, their times are cycles of the NPU, and behind the kernels of a call stands
// the writing of the profile (kind 0; two bytes from newer versions).
#pragma once
#include <map>
#include <vector>

#include "explain/traces/read_etdump.h"
#include "explain/traces/source_map.h"

namespace deuteron {

struct NpuEvents {
  enum class Is : u8 { other, kernel, writing };
  std::vector<Is> events;      // by event of the run
  std::map<i64, i64> kernels;  // by instruction: kernels of one call, where calls differ the first
};

// `map` may be null.
NpuEvents npu_events_of(const DumpRun& run, const Dump& trace, const SourceMap* map);

// The number of the first kernel of a call in the files of our tracer; in those of stock firmware
// it is 0.
inline constexpr i64 kOurFirstId = 1000;  // docs/reports.md
inline i64 first_id_of(const Dump& trace) { return trace.npu.is_own ? kOurFirstId : 0; }

}  // namespace deuteron
