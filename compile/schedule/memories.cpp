// SPDX-License-Identifier: Apache-2.0
#include "compile/schedule/memories.h"

#include <algorithm>
#include <limits>

#include "compile/options.h"
#include "ops/families.h"

namespace deuteron {

bool calls_npu(const Graph& g) {
  return std::any_of(g.nodes.begin(), g.nodes.end(), [](const Node& node) {
    const auto* call = call_of(node.op);
    return call && call->delegate;
  });
}

i64 resident_npu_bytes(const Graph& g, const Target& target, bool fetch_constants) {
  if (fetch_constants) return 0;
  // In a memory of their own they take nothing from the plan.
  for (const MemoryRegion& m : target.memories)
    if (m.does_hold("constants") && !m.does_hold("activations") && m.is_reached_by("npu")) return 0;
  i64 bytes = 0;
  for (const Node& node : g.nodes)
    if (const auto* call = call_of(node.op); call && call->delegate)
      bytes += static_cast<i64>(call->delegate->processed.size());
  return bytes;
}

Room room_for_activations(const Target& target, bool uses_npu, i64 bytes, i64 resident) {
  Room best;
  for (const MemoryRegion& m : target.memories) {
    if (!m.does_hold("activations") || !m.is_reached_by("cpu") ||
        (uses_npu && !m.is_reached_by("npu")))
      continue;
    const i64 beside = m.does_hold("constants") ? resident : 0;
    const i64 left = std::max<i64>(m.bytes - beside, 0);
    if (left >= bytes) return {&m, left};
    if (!best.memory || left > best.bytes) best = {&m, left};
  }
  return best;
}

i64 smallest_limit(const Graph& g, const CompileOptions& options, const Target& target) {
  const i64 limit = options.max_ram > 0 ? options.max_ram : std::numeric_limits<i64>::max();
  const Room room =
      room_for_activations(target, calls_npu(g), std::numeric_limits<i64>::max(),
                           resident_npu_bytes(g, target, options.npu.fetch_constants));
  return room.memory ? std::min(limit, room.bytes) : limit;
}

}  // namespace deuteron
