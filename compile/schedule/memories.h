// SPDX-License-Identifier: Apache-2.0
// Which of a target's memories takes what: everything that is planned lies in one of them, which
// everybody who touches it reaches.
#pragma once
#include "ir/graph.h"
#include "targets/target.h"

namespace deuteron {

struct CompileOptions;  // compile/options.h

// Bytes of NPU payloads that must lie beside the plan: the NPU reaches no memory that is for
// constants alone, and does not fetch them.
i64 resident_npu_bytes(const Graph& lowered, const Target& target, bool fetch_constants);
bool calls_npu(const Graph& lowered);

struct Room {
  const MemoryRegion* memory = nullptr;  // null: the target does not say, so there is no limit
  i64 bytes = 0;                         // of it, for the plan
};
// The first memory for activations that the CPU, and if `uses_npu` the NPU, reach, and that has
// `bytes` beside `resident`; the largest if none has.
Room room_for_activations(const Target& target, bool uses_npu, i64 bytes, i64 resident);

// Bytes that a plan may have, by --max-ram and the target; the largest number where nothing limits
// it.
i64 smallest_limit(const Graph& g, const CompileOptions& options, const Target& target);

}  // namespace deuteron
