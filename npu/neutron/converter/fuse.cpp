// SPDX-License-Identifier: Apache-2.0
// See fuse.h. The rewrites themselves are their definitions'.
#include "npu/neutron/converter/fuse.h"

#include <fmt/format.h>

#include <algorithm>

#include "npu/neutron/kernels/table/operation.h"

namespace deuteron::neutron {

TensorUses::TensorUses(const Model& m)
    : producer(m.tensors.size(), -1), readers(m.tensors.size()), output_uses(m.tensors.size(), 0) {
  for (size_t i = 0; i < m.operations.size(); ++i) {
    if (m.operations[i].output == kNoTensor) continue;
    producer[m.operations[i].output] = static_cast<i32>(i);
    for (const TensorId t : m.operations[i].inputs)
      if (t != kNoTensor) readers[t].push_back(static_cast<i32>(i));
  }
  for (const TensorId t : m.outputs) ++output_uses[t];
}

Operation* maker_of_operand(Model& m, const TensorUses& uses, const Operation& s) {
  const i32 maker = uses.producer[s.inputs[0]];
  return maker < 0 ? nullptr : &m.operations[maker];
}

void join_origins(Operation& into, const Operation& from) {
  into.origins.insert(into.origins.end(), from.origins.begin(), from.origins.end());
  std::sort(into.origins.begin(), into.origins.end());
  into.origins.erase(std::unique(into.origins.begin(), into.origins.end()), into.origins.end());
}

std::string name_in_reports(const Model& m, const Operation& s) {
  const i32 op = s.origins.empty() ? 0 : s.origins.back();
  return fmt::format("{} (operator {})", m.op_names[op], op);
}

void vanish(Model& m, const std::vector<i32>& ops, const std::string& reason) {
  for (const i32 op : ops) {
    const bool known = std::any_of(m.vanished.begin(), m.vanished.end(),
                                   [&](const Vanished& v) { return v.op == op; });
    if (!known) m.vanished.push_back({op, reason});
  }
}

std::optional<int8_t> uniform_value(const Model& m, TensorId t) {
  if (!m.is_constant(t)) return std::nullopt;
  const auto values = m.tensors[t].constant->as<int8_t>();
  if (!std::all_of(values.begin(), values.end(), [&](int8_t v) { return v == values[0]; }))
    return std::nullopt;
  return values[0];
}

namespace {

void become_table(const Model& m, Operation& s) {
  const std::optional<FunctionOfOne> f = s.def->fusing.as_function(m, s);
  if (!f) return;
  s.def = &table_operation;
  s.attributes = Table{f->value};
  s.inputs = {f->x};
  s.low = -128, s.high = 127;
}

bool become_view(Model& m, Operation& s) {
  if (s.low != -128 || s.high != 127 || s.inputs.empty() || !s.def->fusing.is_identity(m, s))
    return false;
  s.def = &view_operation;
  s.attributes.reset();
  s.inputs.resize(1);
  vanish(m, s.origins, "changes nothing");
  return true;
}

// Drops operations that were folded (no output) and those that nobody reads.
bool drop_unread(Model& m) {
  const TensorUses uses(m);
  std::vector<Operation> kept;
  for (Operation& s : m.operations) {
    if (s.output == kNoTensor) continue;
    if (uses.readers[s.output].empty() && uses.output_uses[s.output] == 0) {
      vanish(m, s.origins, "its result is not read");
      continue;
    }
    kept.push_back(std::move(s));
  }
  const bool changed = kept.size() != m.operations.size();
  m.operations = std::move(kept);
  return changed;
}

bool fold_one(Model& m) {
  for (Operation& s : m.operations) {
    if (become_view(m, s)) return true;
    if (s.def->fusing.fold && s.def->fusing.fold(m, TensorUses(m), s)) return true;
  }
  return false;
}

}  // namespace

void fuse(Model& m, bool fold) {
  while (drop_unread(m)) {}
  if (!fold) return;
  for (Operation& s : m.operations) become_table(m, s);
  while (fold_one(m))
    while (drop_unread(m)) {}
  const TensorUses uses(m);
  for (Operation& s : m.operations)
    for (const OperationDef* def : operation_defs())
      if (def->fusing.fuse && s.output != kNoTensor && def->fusing.fuse(m, uses, s)) break;
  drop_unread(m);
}

}  // namespace deuteron::neutron
