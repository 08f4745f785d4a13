// See place.h. Sharing is a forest: a tensor may lie inside one other. Decided in step order, refused where a kernel could not follow.
#include "backends/neutron/place.h"

#include <algorithm>
#include <numeric>

#include "backends/neutron/fuse.h"
#include "memory/pack.h"

namespace deuteron::neutron {
namespace {

i64 pixel_bytes(const Shape& s) { return s.empty() ? 1 : s.back(); }

// Kernels that read operand `i` with gaps between pixels.
bool reads_pitched(const Step& s, size_t i) {
  if (std::holds_alternative<Prelu>(s.action)) return i == 1;
  return std::holds_alternative<Convolution>(s.action) || std::holds_alternative<Depthwise>(s.action) ||
         std::holds_alternative<TransposedConvolution>(s.action) || std::holds_alternative<Pool>(s.action) ||
         std::holds_alternative<Pairwise>(s.action) || std::holds_alternative<BatchMatmul>(s.action) ||
         std::holds_alternative<Concat>(s.action) || std::holds_alternative<Slice>(s.action) || std::holds_alternative<Transpose>(s.action);
}
bool writes_pitched(const Model& m, const Step& s) {
  if (const auto* c = std::get_if<Concat>(&s.action)) return c->axis + 1 == m.type(s.output).rank();
  return std::holds_alternative<Convolution>(s.action) || std::holds_alternative<Depthwise>(s.action) ||
         std::holds_alternative<TransposedConvolution>(s.action) || std::holds_alternative<Pool>(s.action) ||
         std::holds_alternative<Slice>(s.action) || std::holds_alternative<Transpose>(s.action);
}

class Placer {
 public:
  explicit Placer(Model& m, bool share) : m_(m), share_(share), uses_(m), link_(m.tensors.size()), output_(m.tensors.size(), -1) {}
  Placement run();

 private:
  struct Link {
    TensorId parent = kNoTensor;
    i64 offset = 0;
    bool pitched = false;  // inside the parent's pixels
    bool must_be_dense = false;
    bool has_children = false;
  };

  bool is_fixed(TensorId t) const { return m_.is_constant(t) || input_index(t) >= 0; }
  i64 input_index(TensorId t) const {
    const auto at = std::find(m_.inputs.begin(), m_.inputs.end(), t);
    return at == m_.inputs.end() ? -1 : at - m_.inputs.begin();
  }
  TensorId root_of(TensorId t) const {
    while (link_[t].parent != kNoTensor) t = link_[t].parent;
    return t;
  }
  i64 offset_of(TensorId t) const {
    i64 offset = 0;
    for (; link_[t].parent != kNoTensor; t = link_[t].parent) offset += link_[t].offset;
    return offset;
  }
  i64 pitch_of(TensorId t) const {
    while (link_[t].pitched) t = link_[t].parent;
    return pixel_bytes(m_.type(t).shape);
  }
  bool is_dense(TensorId t) const { return !link_[t].pitched; }
  // All of its root, in order.
  bool covers_root(TensorId t) const { return is_dense(t) && offset_of(t) == 0 && m_.type(t).bytes() == m_.type(root_of(t)).bytes(); }

  void link(TensorId child, TensorId parent, i64 offset, bool pitched) {
    link_[child].parent = parent;
    link_[child].offset = offset;
    link_[child].pitched = pitched;
    link_[parent].has_children = true;
    if (!pitched) link_[parent].must_be_dense = true;
    if (!pitched) link_[child].must_be_dense = true;
  }
  bool all_readers_pitched(TensorId t, i32 except) const {
    for (const i32 r : uses_.readers[t]) {
      if (r == except) continue;
      for (size_t i = 0; i < m_.steps[r].inputs.size(); ++i)
        if (m_.steps[r].inputs[i] == t && !reads_pitched(m_.steps[r], i)) return false;
    }
    return true;
  }

  bool share_view(const Step& s);
  bool share_slice(const Step& s, const Slice& a);
  bool share_part(i32 step, const Concat& a, size_t part);
  void work_in_place();

  Model& m_;
  bool share_;
  StepUses uses_;
  std::vector<Link> link_;
  std::vector<i64> output_;  // by root: the output that it is, or -1
};

// The result is the operand's bytes. As an output it takes its root with it.
bool Placer::share_view(const Step& s) {
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

// A run of the operand, or a run of the channels of every pixel.
bool Placer::share_slice(const Step& s, const Slice& a) {
  const TensorId x = s.inputs[0], y = s.output;
  const Shape &from = m_.type(x).shape, &to = m_.type(y).shape;
  if (output_[y] >= 0 || from.empty()) return false;
  size_t cut = 0, axes = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    if (axes++ == 0) cut = i;
    if (a.stride[i] != 1) return false;
  }
  if (axes > 1) return false;
  const i64 outer = numel(std::span(from).first(cut)), inner = numel(std::span(from).subspan(cut + 1));
  if (outer == 1 && is_dense(x)) {
    link(y, x, a.begin[cut] * inner, false);
    return true;
  }
  if (cut + 1 != from.size() || !all_readers_pitched(y, -1)) return false;
  link(y, x, a.begin[cut], true);
  return true;
}

// The part is made where the concatenation wants it. Refused for what lies somewhere already, and where gaps would be needed that its maker
// or one of its other readers cannot leave.
bool Placer::share_part(i32 step, const Concat& a, size_t part) {
  const Step& s = m_.steps[step];
  const TensorId p = s.inputs[part], y = s.output;
  if (std::count(s.inputs.begin(), s.inputs.end(), p) > 1) return false;
  i64 before = 0;
  for (size_t i = 0; i < part; ++i) before += m_.type(s.inputs[i]).shape[a.axis];
  const Shape& to = m_.type(y).shape;
  const i64 outer = numel(std::span(to).first(static_cast<size_t>(a.axis))),
            inner = numel(std::span(to).subspan(static_cast<size_t>(a.axis) + 1));
  if (outer == 1 && is_dense(y)) {
    const TensorId root = root_of(p);
    if (is_fixed(root) || output_[root] >= 0 || !covers_root(p) || root_of(y) == root) return false;
    link(root, y, before * inner, false);
    return true;
  }
  if (a.axis + 1 != m_.type(y).rank()) return false;
  if (is_fixed(p) || output_[p] >= 0 || link_[p].parent != kNoTensor || link_[p].must_be_dense || uses_.producer[p] < 0) return false;
  if (!writes_pitched(m_, m_.steps[uses_.producer[p]]) || !all_readers_pitched(p, step)) return false;
  link(p, y, before, true);
  return true;
}

// Kernels that work element by element may write over an operand that nobody reads afterwards; the operand then lies where the result does.
// After all other sharing, which it must not get in the way of.
void Placer::work_in_place() {
  std::vector<size_t> last(m_.tensors.size(), 0);  // by root: the last step that touches it
  for (size_t i = 0; i < m_.steps.size(); ++i) {
    for (const TensorId t : m_.steps[i].inputs)
      if (t != kNoTensor) last[root_of(t)] = i;
    last[root_of(m_.steps[i].output)] = i;
  }
  for (size_t i = 0; i < m_.steps.size(); ++i) {
    const Step& s = m_.steps[i];
    const bool one =
        std::holds_alternative<Table>(s.action) || std::holds_alternative<Prelu>(s.action) || std::holds_alternative<Softmax>(s.action);
    if (!one && !std::holds_alternative<Pairwise>(s.action)) continue;
    const TensorId y = s.output;
    for (size_t k = 0; k < (one ? 1 : s.inputs.size()); ++k) {
      const TensorId x = s.inputs[k], root = root_of(x);
      const bool alone = std::all_of(s.inputs.begin(), s.inputs.end(), [&](TensorId t) { return t == x || root_of(t) != root; });
      if (!alone || is_fixed(root) || output_[root] >= 0 || last[root] != i || root == root_of(y)) continue;
      if (m_.type(x).shape != m_.type(y).shape || !covers_root(x) || !covers_root(y)) continue;
      link(root, y, 0, false);
      break;
    }
  }
}

Placement Placer::run() {
  for (size_t i = 0; i < m_.outputs.size(); ++i) output_[m_.outputs[i]] = static_cast<i64>(i);
  Placement r;
  r.free.assign(m_.steps.size(), false);
  r.part_free.resize(m_.steps.size());
  for (size_t i = 0; i < m_.steps.size(); ++i) {
    const Step& s = m_.steps[i];
    if (std::holds_alternative<Concat>(s.action)) r.part_free[i].assign(s.inputs.size(), false);
    if (!share_) continue;
    if (std::holds_alternative<View>(s.action)) r.free[i] = share_view(s);
    if (const auto* a = std::get_if<Slice>(&s.action)) r.free[i] = share_slice(s, *a);
    if (const auto* a = std::get_if<Concat>(&s.action)) {
      for (size_t p = 0; p < s.inputs.size(); ++p) r.part_free[i][p] = share_part(static_cast<i32>(i), *a, p);
      r.free[i] = std::all_of(r.part_free[i].begin(), r.part_free[i].end(), [](bool f) { return f; });
    }
  }

  if (share_) work_in_place();

  // The life of a root is that of all that lies in it.
  const auto tensors = static_cast<TensorId>(m_.tensors.size());
  std::vector<i32> first(tensors, -1), last(tensors, -1);
  const auto touch = [&](TensorId t, i32 step) {
    const TensorId root = root_of(t);
    if (first[root] < 0) first[root] = step;
    last[root] = step;
  };
  for (size_t i = 0; i < m_.steps.size(); ++i) {
    for (const TensorId t : m_.steps[i].inputs)
      if (t != kNoTensor) touch(t, static_cast<i32>(i));
    touch(m_.steps[i].output, static_cast<i32>(i));
  }
  r.place.resize(tensors);
  r.root.resize(tensors);
  std::vector<PackItem> items;
  std::vector<TensorId> packed;
  for (TensorId t = 0; t < tensors; ++t) {
    r.place[t] = {root_of(t), offset_of(t), pitch_of(t)};
    if (root_of(t) != t) continue;
    Root& root = r.root[t];
    if (m_.is_constant(t)) root.home = Home::constant;
    else if (const i64 k = input_index(t); k >= 0) root.home = Home::input, root.index = k;
    else if (output_[t] >= 0) root.home = Home::output, root.index = output_[t];
    else if (first[t] >= 0) {
      root.home = Home::scratch;
      items.push_back({m_.type(t).bytes(), first[t], last[t], kSectionAlignment});
      packed.push_back(t);
    }
  }
  const Packing packing = pack(items);
  for (size_t i = 0; i < packed.size(); ++i) r.root[packed[i]].offset = packing.offset[i];
  r.scratch_bytes = (packing.bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
  return r;
}

}  // namespace

Placement place_tensors(Model& m, bool share) {
  std::vector<bool> taken(m.tensors.size());
  const StepUses uses(m);
  for (TensorId& t : m.outputs) {
    if (taken[t] || uses.producer[t] < 0) {
      // An input, a constant, or an output twice: a copy.
      Step copy;
      copy.action = View{};
      copy.inputs = {t};
      copy.y = m.type(t).quant;
      if (uses.producer[t] >= 0) copy.origins = m.steps[uses.producer[t]].origins;
      copy.output = m.add_tensor(m.tensors[t].name + " as an output", m.type(t));
      t = copy.output;
      m.steps.push_back(copy);
      taken.resize(m.tensors.size());
    }
    taken[t] = true;
  }
  return Placer(m, share).run();
}

}  // namespace deuteron::neutron
