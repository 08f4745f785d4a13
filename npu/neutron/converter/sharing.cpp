// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/sharing.h"

#include <algorithm>

namespace deuteron::neutron {

static i64 pixel_bytes(const Shape& s) { return s.empty() ? 1 : s.back(); }

Sharing::Sharing(Model& m)
    : m_(m), uses_(m), link_(m.tensors.size()), output_(m.tensors.size(), -1) {
  for (size_t i = 0; i < m_.outputs.size(); ++i) output_[m_.outputs[i]] = static_cast<i64>(i);
}

i64 Sharing::input_of(TensorId t) const {
  const auto at = std::find(m_.inputs.begin(), m_.inputs.end(), t);
  return at == m_.inputs.end() ? -1 : at - m_.inputs.begin();
}

TensorId Sharing::root_of(TensorId t) const {
  while (link_[t].parent != kNoTensor) t = link_[t].parent;
  return t;
}

i64 Sharing::offset_of(TensorId t) const {
  i64 offset = 0;
  for (; link_[t].parent != kNoTensor; t = link_[t].parent) offset += link_[t].offset;
  return offset;
}

i64 Sharing::pitch_of(TensorId t) const {
  while (link_[t].pitched) t = link_[t].parent;
  return pixel_bytes(m_.type(t).shape);
}

// It is all of its root, in order.
bool Sharing::covers_root(TensorId t) const {
  return is_dense(t) && offset_of(t) == 0 && m_.type(t).bytes() == m_.type(root_of(t)).bytes();
}

void Sharing::link(TensorId child, TensorId parent, i64 offset, bool pitched) {
  link_[child].parent = parent;
  link_[child].offset = offset;
  link_[child].pitched = pitched;
  if (!pitched) link_[parent].must_be_dense = true;
  if (!pitched) link_[child].must_be_dense = true;
}

bool Sharing::all_readers_follow_gaps(TensorId t, i32 except) const {
  for (const i32 r : uses_.readers[t]) {
    if (r == except) continue;
    const Operation& reader = m_.operations[r];
    for (size_t i = 0; i < reader.inputs.size(); ++i)
      if (reader.inputs[i] == t && !reader.def->placing.reads_gaps(i)) return false;
  }
  return true;
}

// As an output it takes its root with it.
bool Sharing::as_view(const Operation& s) {
  const TensorId x = s.inputs[0], y = s.output;
  if (!is_dense(x)) return false;
  const TensorId root = root_of(x);
  if (output_[y] >= 0) {
    if (is_fixed(root) || output_[root] >= 0 || !covers_root(x)) return false;
    output_[root] = output_[y];
    output_[y] = -1;
  }
  link(y, x, 0, false);
  return true;
}

bool Sharing::as_slice(const Operation& s, const Axes& begin, const Axes& stride) {
  const TensorId x = s.inputs[0], y = s.output;
  const Shape &from = m_.type(x).shape, &to = m_.type(y).shape;
  if (output_[y] >= 0 || from.empty()) return false;
  size_t cut = 0, axes = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    if (axes++ == 0) cut = i;
    if (stride[i] != 1) return false;
  }
  if (axes > 1) return false;
  const i64 outer = numel(std::span(from).first(cut)),
            inner = numel(std::span(from).subspan(cut + 1));
  if (outer == 1 && is_dense(x)) {
    link(y, x, begin[cut] * inner, false);
    return true;
  }
  if (cut + 1 != from.size() || !all_readers_follow_gaps(y, -1)) return false;
  link(y, x, begin[cut], true);
  return true;
}

// Refused for what lies somewhere already, and where gaps would be needed that its maker or one of
// its other readers cannot leave.
bool Sharing::as_part(size_t operation, i64 axis, size_t part) {
  const Operation& s = m_.operations[operation];
  const TensorId p = s.inputs[part], y = s.output;
  if (std::count(s.inputs.begin(), s.inputs.end(), p) > 1) return false;
  i64 before = 0;
  for (size_t i = 0; i < part; ++i) before += m_.type(s.inputs[i]).shape[axis];
  const Shape& to = m_.type(y).shape;
  const i64 outer = numel(std::span(to).first(static_cast<size_t>(axis))),
            inner = numel(std::span(to).subspan(static_cast<size_t>(axis) + 1));
  if (outer == 1 && is_dense(y)) {
    const TensorId root = root_of(p);
    if (is_fixed(root) || output_[root] >= 0 || !covers_root(p) || root_of(y) == root) return false;
    link(root, y, before * inner, false);
    return true;
  }
  if (axis + 1 != m_.type(y).rank()) return false;
  if (is_fixed(p) || output_[p] >= 0 || link_[p].parent != kNoTensor || link_[p].must_be_dense ||
      uses_.producer[p] < 0)
    return false;
  const Operation& maker = m_.operations[uses_.producer[p]];
  if (!maker.def->placing.writes_gaps(m_, maker) ||
      !all_readers_follow_gaps(p, static_cast<i32>(operation)))
    return false;
  link(p, y, before, true);
  return true;
}

// Refused for what is read afterwards, and what lies elsewhere already.
bool Sharing::may_overwrite(const Operation& s, size_t operand, const std::vector<size_t>& last_use,
                            size_t operation) const {
  const TensorId x = s.inputs[operand], y = s.output, root = root_of(x);
  const bool alone = std::all_of(s.inputs.begin(), s.inputs.end(),
                                 [&](TensorId t) { return t == x || root_of(t) != root; });
  if (!alone || is_fixed(root) || output_[root] >= 0 || last_use[root] != operation ||
      root == root_of(y))
    return false;
  return m_.type(x).shape == m_.type(y).shape && covers_root(x) && covers_root(y);
}

// The operand then lies where the result does.
void Sharing::overwrite_operands() {
  std::vector<size_t> last_use(m_.tensors.size(),
                               0);  // by root: the last operation that touches it
  for (size_t i = 0; i < m_.operations.size(); ++i) {
    for (const TensorId t : m_.operations[i].inputs)
      if (t != kNoTensor) last_use[root_of(t)] = i;
    last_use[root_of(m_.operations[i].output)] = i;
  }
  for (size_t i = 0; i < m_.operations.size(); ++i) {
    const Operation& s = m_.operations[i];
    for (size_t k = 0; k < std::min(s.def->placing.overwrites, s.inputs.size()); ++k) {
      if (!may_overwrite(s, k, last_use, i)) continue;
      link(root_of(s.inputs[k]), s.output, 0, false);
      break;
    }
  }
}

}  // namespace deuteron::neutron
