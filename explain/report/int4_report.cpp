// SPDX-License-Identifier: Apache-2.0
#include "explain/report/int4_report.h"

#include <algorithm>
#include <set>

#include "compile/lower/pack_call.h"
#include "ops/families.h"

namespace deuteron {

Int4Report int4_report(const Graph& g, const ProgramReport& program) {
  Int4Report r;
  for (const OperatorReport& op : program.operators)
    if (has_int4_weights(op.op) && std::ranges::find(r.layers, op.name) == r.layers.end())
      r.layers.push_back(op.name);
  std::set<const void*> seen;  // bands of rows share their weights
  for (const Node& node : g.nodes) {
    const std::optional<Int4Weights> weights = int4_weights_of(node);
    if (!weights || !seen.insert(g.values[weights->value].constant->bytes.data()).second) continue;
    r.bytes += g.type(weights->value).bytes();
    r.int8_bytes += weights->int8_bytes;
  }
  return r;
}

}  // namespace deuteron
