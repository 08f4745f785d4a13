// SPDX-License-Identifier: Apache-2.0
// See place.h.
#include "npu/neutron/converter/place.h"

#include <algorithm>

#include "base/allocate/pack.h"
#include "npu/neutron/converter/sharing.h"

namespace deuteron::neutron {
namespace {

// The first and last operation that touches each root: the life of a root is that of all that lies
// in it.
struct Lives {
  std::vector<i32> first, last;
};
Lives lives_of(const Model& m, const Sharing& sharing) {
  Lives lives{std::vector<i32>(m.tensors.size(), -1), std::vector<i32>(m.tensors.size(), -1)};
  const auto touch = [&](TensorId t, size_t operation) {
    const TensorId root = sharing.root_of(t);
    if (lives.first[root] < 0) lives.first[root] = static_cast<i32>(operation);
    lives.last[root] = static_cast<i32>(operation);
  };
  for (size_t i = 0; i < m.operations.size(); ++i) {
    for (const TensorId t : m.operations[i].inputs)
      if (t != kNoTensor) touch(t, i);
    touch(m.operations[i].output, i);
  }
  return lives;
}

Placement places_of(const Model& m, const Sharing& sharing) {
  Placement r;
  const Lives lives = lives_of(m, sharing);
  const auto tensors = static_cast<TensorId>(m.tensors.size());
  r.place.resize(tensors);
  r.root.resize(tensors);
  std::vector<PackItem> items;
  std::vector<TensorId> packed;
  for (TensorId t = 0; t < tensors; ++t) {
    r.place[t] = {sharing.root_of(t), sharing.offset_of(t), sharing.pitch_of(t)};
    if (r.place[t].root != t) continue;
    Root& root = r.root[t];
    if (m.is_constant(t)) root.home = Home::constant;
    else if (const i64 k = sharing.input_of(t); k >= 0) root.home = Home::input, root.index = k;
    else if (const i64 o = sharing.output_of(t); o >= 0) root.home = Home::output, root.index = o;
    else if (lives.first[t] >= 0) {
      root.home = Home::scratch;
      items.push_back({m.type(t).bytes(), lives.first[t], lives.last[t], kSectionAlignment});
      packed.push_back(t);
    }
  }
  const PackResult packing = pack(items);
  for (size_t i = 0; i < packed.size(); ++i) r.root[packed[i]].offset = packing.offset[i];
  r.scratch_bytes = (packing.bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
  return r;
}

// An input, a constant, or an output that is given twice is copied.
void give_outputs_tensors(Model& m) {
  std::vector<bool> taken(m.tensors.size());
  const TensorUses uses(m);
  for (TensorId& t : m.outputs) {
    if (taken[t] || uses.producer[t] < 0) {
      Operation copy;
      copy.def = &view_operation;
      copy.inputs = {t};
      copy.y = m.type(t).quant;
      if (uses.producer[t] >= 0) copy.origins = m.operations[uses.producer[t]].origins;
      copy.output = m.add_tensor(m.tensors[t].name + " as an output", m.type(t));
      t = copy.output;
      m.operations.push_back(copy);
      taken.resize(m.tensors.size());
    }
    taken[t] = true;
  }
}

}  // namespace

Placement place_tensors(Model& m, bool share) {
  give_outputs_tensors(m);
  Sharing sharing(m);
  std::vector<bool> free(m.operations.size(), false);
  std::vector<std::vector<bool>> part_free(m.operations.size());
  for (size_t i = 0; share && i < m.operations.size(); ++i) {
    if (!m.operations[i].def->placing.share) continue;
    part_free[i] = m.operations[i].def->placing.share(sharing, i);
    free[i] = std::all_of(part_free[i].begin(), part_free[i].end(), [](bool f) { return f; });
  }
  if (share) sharing.overwrite_operands();
  Placement r = places_of(m, sharing);
  r.free = std::move(free);
  r.part_free = std::move(part_free);
  return r;
}

}  // namespace deuteron::neutron
