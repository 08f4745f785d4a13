// SPDX-License-Identifier: Apache-2.0
#include "explain/report/operators_served.h"

#include <algorithm>

#include "ops/families.h"

namespace deuteron {

// Kernels without arithmetic, and the quantizers at the edges of what is int8.
static bool is_quantizer(const KernelCall& call) {
  return call.name == "cortex_m::quantize_per_tensor" ||
         call.name == "cortex_m::dequantize_per_tensor";
}
static bool moves(const KernelCall& call) {
  for (const char* name : {"cortex_m::transpose", "cortex_m::pad", "aten::permute_copy",
                           "aten::constant_pad_nd", "aten::cat", "aten::slice_copy",
                           "aten::expand_copy", "aten::clone", "dim_order_ops::_clone_dim_order"})
    if (call.name == name) return true;
  return false;
}

OperatorsServed::OperatorsServed(const Compilation& c) : c_(c), g_(c.graph), uses_(g_) {
  id_.assign(g_.sources.size(), -1);
  for (size_t s = 0; s < g_.sources.size(); ++s) {
    const bool is_quantizer = s < c.user.size()
                                  ? c.user[s].is_quantizer
                                  : g_.sources[s].target.starts_with("quantized_decomposed.");
    if (!is_quantizer) id_[s] = count_++;
  }
  find_computed();
}

std::vector<i32> OperatorsServed::own(const Origin& origin) const {
  std::vector<i32> ids;
  for (const i32 s : origin)
    if (s >= 0 && s < static_cast<i32>(id_.size()) && id_[s] >= 0) ids.push_back(id_[s]);
  return ids;
}

bool OperatorsServed::has_move(const Origin& origin) const {
  return std::any_of(origin.begin(), origin.end(), [&](i32 s) {
    return s < static_cast<i32>(c_.user.size()) && !c_.user[s].is_quantizer &&
           c_.user[s].has_result && c_.user[s].is_move;
  });
}

// Whether an operator of a delegate stands at its border: it reads, or is read by, what is outside.
bool OperatorsServed::is_at_border(i32 source, const Origin& delegate, bool reads) const {
  if (source >= static_cast<i32>(c_.user.size())) return true;
  const auto inside = [&](i32 s) {
    return std::binary_search(delegate.begin(), delegate.end(), s);
  };
  const UserOperator& op = c_.user[source];
  if (reads)
    return !op.graph_inputs.empty() ||
           std::any_of(op.inputs.begin(), op.inputs.end(), [&](i32 s) { return !inside(s); });
  if (!op.graph_outputs.empty()) return true;
  for (size_t s = 0; s < c_.user.size(); ++s)
    if (!inside(static_cast<i32>(s)) &&
        std::count(c_.user[s].inputs.begin(), c_.user[s].inputs.end(), source) > 0)
      return true;
  return false;
}

// The inputs of the graph, or its outputs, that a value is.
std::vector<i32> OperatorsServed::ports_of(ValueId v, const std::vector<Port>& ports) const {
  std::vector<i32> list;
  for (size_t k = 0; k < ports.size(); ++k)
    if (ports[k].value == v) list.push_back(static_cast<i32>(k));
  return list;
}

// By source: some kernel computes it (a part of it).
void OperatorsServed::find_computed() {
  computed_.assign(g_.sources.size(), false);
  const auto note = [&](const Origin& origin) {
    for (const i32 s : origin) computed_[s] = true;
  };
  for (const Node& node : g_.nodes)
    if (const KernelCall* call = call_of(node.op); call && !call->delegate && !is_quantizer(*call))
      note(node.origin);
  for (const NpuKernel& kernel : c_.npu.kernels) note(kernel.origin);
}

// The operators that read inputs (`down`) or give outputs of the graph; beyond those that nothing
// is left of.
std::vector<i32> OperatorsServed::at_ports(const std::vector<i32>& ports, bool down) const {
  std::vector<i32> found, ids;
  for (size_t s = 0; s < c_.user.size(); ++s) {
    const std::vector<i32>& own_ports = down ? c_.user[s].graph_inputs : c_.user[s].graph_outputs;
    if (std::find_first_of(own_ports.begin(), own_ports.end(), ports.begin(), ports.end()) !=
        own_ports.end())
      found.push_back(static_cast<i32>(s));
  }
  std::vector<bool> seen(c_.user.size(), false);
  while (!found.empty()) {
    const i32 s = found.back();
    found.pop_back();
    if (seen[s]) continue;
    seen[s] = true;
    if (computed_[s]) {
      if (id_[s] >= 0) ids.push_back(id_[s]);
    } else if (!down) {
      found.insert(found.end(), c_.user[s].inputs.begin(), c_.user[s].inputs.end());
    } else {
      for (size_t r = 0; r < c_.user.size(); ++r)
        if (std::count(c_.user[r].inputs.begin(), c_.user[r].inputs.end(), s) > 0)
          found.push_back(static_cast<i32>(r));
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<i32> OperatorsServed::served_by_quantizers(const Origin& origin) const {
  Origin served;
  for (const i32 s : origin)
    if (s < static_cast<i32>(c_.user.size()) && c_.user[s].is_quantizer) {
      Origin some = c_.user[s].inputs;
      std::sort(some.begin(), some.end());
      served = merge(served, some);
    }
  Origin with_kernels;
  for (const i32 s : served)
    if (computed_[s]) with_kernels.push_back(s);
  return own(with_kernels.empty() ? served : with_kernels);
}

// The operators that something is added for: those that read its result (`down`) or made what it
// reads.
std::vector<i32> OperatorsServed::served_by(size_t n, bool down) const {
  const Node& added = g_.nodes[n];
  if (std::vector<i32> ids = at_ports(
          down ? ports_of(added.inputs[0], g_.inputs) : ports_of(added.outputs[0], g_.outputs),
          down);
      !ids.empty())
    return ids;
  std::vector<i32> ids;
  std::vector<bool> seen(g_.nodes.size(), false);
  std::vector<NodeId> pending{static_cast<NodeId>(n)};
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    std::vector<NodeId> next;
    if (down)
      for (const ValueId v : g_.nodes[at].outputs)
        next.insert(next.end(), uses_.readers[v].begin(), uses_.readers[v].end());
    else
      for (const ValueId v : g_.nodes[at].inputs) next.push_back(uses_.producer[v]);
    for (const NodeId m : next) {
      if (m < 0 || seen[m]) continue;
      seen[m] = true;
      const KernelCall* call = call_of(g_.nodes[m].op);
      Origin origin = g_.nodes[m].origin;
      if (call && call->delegate)
        origin.erase(
            std::remove_if(origin.begin(), origin.end(),
                           [&](i32 s) { return !is_at_border(s, g_.nodes[m].origin, down); }),
            origin.end());
      const std::vector<i32> found = own(origin);
      if (found.empty()) pending.push_back(m);
      ids.insert(ids.end(), found.begin(), found.end());
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

OperatorsServed::Attribution OperatorsServed::attribute(size_t n, const KernelCall& call) const {
  const Node& node = g_.nodes[n];
  Attribution a{own(node.origin), false};
  if (call.delegate) return a;
  const bool quantizer = is_quantizer(call);
  a.added = a.operators.empty() || quantizer || (moves(call) && !has_move(node.origin));
  if (a.operators.empty() || quantizer) {
    const bool down_first = call.name != "cortex_m::dequantize_per_tensor";
    std::vector<i32> served =
        a.operators.empty() ? served_by_quantizers(node.origin) : std::vector<i32>{};
    if (served.empty()) served = served_by(n, down_first);
    if (served.empty()) served = served_by(n, !down_first);
    if (!served.empty()) a.operators = std::move(served);
  }
  return a;
}

}  // namespace deuteron
