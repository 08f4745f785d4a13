// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/traffic.h"

#include <algorithm>

#include "compile/cost/cpu_cost.h"
#include "ops/families.h"

namespace deuteron {

// Windows that share one reading of the weights: docs/kernels.md.
static i64 windows_at_once(Isa isa) { return isa == Isa::mve ? 2 : 4; }

static i64 divided_up(i64 a, i64 b) { return (a + b - 1) / std::max<i64>(b, 1); }

// How often a call reads its constants: once for each tile of windows, of rows or of steps. A
// depthwise kernel keeps a channel's weights while it walks over the image.
static i64 passes_of(const Graph& g, const Node& node, Isa isa) {
  const auto& call = *call_of(node.op);
  if (call.macs == 0 || call.name.find("depthwise") != std::string::npos) return 1;
  i64 largest = 0;
  for (const ValueId v : node.inputs)
    if (g.is_constant(v)) largest = std::max(largest, g.type(v).elements());
  const Shape& y = g.type(node.outputs[0]).shape;
  const bool is_layer =
      call.name.find("conv") != std::string::npos || call.name.find("linear") != std::string::npos;
  const i64 windows = is_layer && !y.empty()
                          ? g.type(node.outputs[0]).elements() / std::max<i64>(y.back(), 1)
                          : call.macs / std::max<i64>(largest, 1);
  return std::max<i64>(divided_up(windows, windows_at_once(isa)), 1);
}

Traffic traffic_of(const Graph& g, const Node& node, Isa isa) {
  const auto& call = *call_of(node.op);
  Traffic t{std::vector<Bytes>(node.inputs.size()), std::vector<Bytes>(node.outputs.size())};
  if (call.delegate) return t;
  const CpuWork work = cpu_work(g, node);
  const i64 passes = passes_of(g, node, isa);
  const i64 walked = call.name.find("depthwise") != std::string::npos
                         ? work.macs
                         : work.taps;  // elements of windows
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Type& type = g.type(node.inputs[i]);
    if (g.is_constant(node.inputs[i])) t.inputs[i].read = type.bytes() * passes;
    else t.inputs[i].read = i == 0 && walked > 0 ? walked * bytes_of(type.dtype) : type.bytes();
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    t.outputs[i].written = g.type(node.outputs[i]).bytes();
  return t;
}

}  // namespace deuteron
