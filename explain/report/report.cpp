// SPDX-License-Identifier: Apache-2.0
#include "explain/report/report.h"

#include <algorithm>

#include "compile/compilation.h"

namespace deuteron {

i64 count_of(const ProgramReport& r, Placement p) {
  return std::count_if(r.operators.begin(), r.operators.end(),
                       [p](const OperatorReport& o) { return o.placement == p; });
}

NpuTotal npu_total(const ProgramReport& r) {
  NpuTotal t;
  for (const OperatorReport& o : r.operators) {
    if (o.placement != Placement::npu) continue;
    ++t.kernels;
    t.delegates = std::max<i64>(t.delegates, o.delegate + 1);
    t.cycles += std::max<i64>(o.cycles, 0);
    t.not_predicted += o.cycles < 0 ? 1 : 0;
    t.assumed += o.apart_cycles > 0 ? 1 : 0;
    t.apart_cycles += o.apart_cycles > 0 ? o.apart_cycles : std::max<i64>(o.cycles, 0);
    t.macs += o.macs;
  }
  return t;
}

i64 npu_transposes(const Compilation& c) {
  return std::ranges::count(c.npu.kernels, neutron::Kind::kTransposeCHW, &NpuKernel::kind);
}

std::vector<std::string> own_kernels(const ProgramReport& r) {
  std::vector<std::string> names;
  for (const OperatorReport& o : r.operators)
    if (!o.is_stock && std::find(names.begin(), names.end(), o.op) == names.end())
      names.push_back(o.op);
  return names;
}

std::string peak_name(const Compilation& c) {
  const NodeId n = c.plan.peak_node;
  if (n < 0 || n >= static_cast<NodeId>(c.graph.nodes.size())) return "";
  return describe(c.graph, c.graph.nodes[n]);
}

}  // namespace deuteron
