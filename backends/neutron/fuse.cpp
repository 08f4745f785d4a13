// See fuse.h. One function for each rewriting; each says in a line what it does and what it refuses.
#include "backends/neutron/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/neutron/scales.h"

namespace deuteron::neutron {

StepUses::StepUses(const Model& m) : producer(m.tensors.size(), -1), readers(m.tensors.size()), output_uses(m.tensors.size(), 0) {
  for (size_t i = 0; i < m.steps.size(); ++i) {
    if (m.steps[i].output == kNoTensor) continue;
    producer[m.steps[i].output] = static_cast<i32>(i);
    for (const TensorId t : m.steps[i].inputs)
      if (t != kNoTensor) readers[t].push_back(static_cast<i32>(i));
  }
  for (const TensorId t : m.outputs) ++output_uses[t];
}

bool moves_nothing(const Transpose& t, const Shape& x) {
  i64 last = -1;
  for (const i64 a : t.perm) {
    if (x[a] == 1) continue;
    if (a < last) return false;
    last = a;
  }
  return true;
}

namespace {

void join(std::vector<i32>& into, const std::vector<i32>& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

std::string reader_text(const Model& m, const Step& s) {
  const i32 op = s.origins.empty() ? 0 : s.origins.back();
  return fmt::format("{} (operator {})", m.op_names[op], op);
}

void vanish(Model& m, const std::vector<i32>& ops, const std::string& reason) {
  for (const i32 op : ops) {
    const bool known = std::any_of(m.vanished.begin(), m.vanished.end(), [&](const Vanished& v) { return v.op == op; });
    if (!known) m.vanished.push_back({op, reason});
  }
}

std::optional<int8_t> uniform_value(const Model& m, TensorId t) {
  if (!m.is_constant(t)) return std::nullopt;
  const auto values = m.tensors[t].constant->as<int8_t>();
  if (!std::all_of(values.begin(), values.end(), [&](int8_t v) { return v == values[0]; })) return std::nullopt;
  return values[0];
}

// x op constant, x op x: a table. Refused when the constant has several values or makes the result larger.
bool pair_to_table(Model& m, Step& s) {
  const auto* p = std::get_if<Pairwise>(&s.action);
  if (!p) return false;
  const TensorId a = s.inputs[0], b = s.inputs[1];
  const auto ca = uniform_value(m, a), cb = uniform_value(m, b);
  const bool same = a == b;
  if (!same && !ca && !cb) return false;
  const bool x_is_second = !same && ca && !cb;
  const TensorId x = x_is_second ? b : a;
  if (m.is_constant(x) || m.type(x).elements() != m.type(s.output).elements()) return false;
  const Quant &qa = m.type(a).quant, &qb = m.type(b).quant;
  const auto f = pair_factors(p->fn, qa, qb, s.y);
  if (!f) return false;
  Table t;
  for (i32 q = -128; q <= 127; ++q) {
    const i32 left = same || !x_is_second ? q : *ca, right = same || x_is_second ? q : *cb;
    t.entry[q + 128] = static_cast<int8_t>(std::clamp(pair_value(p->fn, *f, qa, qb, s.y, left, right), s.low, s.high));
  }
  s.action = t;
  s.inputs = {x};
  s.low = -128, s.high = 127;
  return true;
}

bool prelu_to_table(Model& m, Step& s) {
  if (!std::holds_alternative<Prelu>(s.action)) return false;
  const auto slope = uniform_value(m, s.inputs[1]);
  if (!slope) return false;
  const Quant &qx = m.type(s.inputs[0]).quant, &qs = m.type(s.inputs[1]).quant;
  const auto f = prelu_factors(qx, qs, s.y);
  if (!f) return false;
  Table t;
  for (i32 q = -128; q <= 127; ++q)
    t.entry[q + 128] = static_cast<int8_t>(std::clamp(prelu_value(*f, qx, qs, s.y, q, *slope), s.low, s.high));
  s.action = t;
  s.inputs.resize(1);
  return true;
}

// What gives back all of its operand, in order.
bool is_identity(const Model& m, const Step& s) {
  if (s.low != -128 || s.high != 127) return false;
  const Shape& y = m.type(s.output).shape;
  if (s.inputs.empty()) return false;
  const Shape& x = m.type(s.inputs[0]).shape;
  if (const auto* t = std::get_if<Transpose>(&s.action)) return moves_nothing(*t, x);
  if (std::holds_alternative<Pad>(s.action)) return x == y;
  if (std::holds_alternative<Slice>(s.action)) return x == y;
  if (std::holds_alternative<Concat>(s.action)) return s.inputs.size() == 1;
  if (std::holds_alternative<Resize>(s.action)) return x == y;
  if (const auto* p = std::get_if<Pool>(&s.action))
    return p->window.kernel_h == 1 && p->window.kernel_w == 1 && p->window.stride_h == 1 && p->window.stride_w == 1 && x == y;
  if (const auto* r = std::get_if<Reduce>(&s.action)) {
    const Quant& q = m.type(s.inputs[0]).quant;
    return numel(x) == numel(y) && q.scale[0] == s.y.scale[0] && q.zero_point[0] == s.y.zero_point[0] && !r->axes.empty();
  }
  if (const auto* t = std::get_if<Table>(&s.action)) {
    for (i32 q = -128; q <= 127; ++q)
      if (t->entry[q + 128] != q) return false;
    return true;
  }
  return false;
}

// pad -> conv2d, depthwise conv2d, maximum pool: one step with that padding.
// Refused when images or channels are padded, when the value is not what the kernel takes outside of x, or when a pool's window would see
// nothing else.
bool fold_pad(Model& m, const StepUses& uses, Step& s) {
  Window* w = nullptr;
  const auto* pool = std::get_if<Pool>(&s.action);
  if (auto* c = std::get_if<Convolution>(&s.action)) w = &c->window;
  if (auto* c = std::get_if<Depthwise>(&s.action)) w = &c->window;
  if (pool && !pool->average) w = &std::get<Pool>(s.action).window;
  if (!w || uses.producer[s.inputs[0]] < 0) return false;
  const Step& before = m.steps[uses.producer[s.inputs[0]]];
  const auto* p = std::get_if<Pad>(&before.action);
  if (!p || p->fn != PadFn::value || p->before.size() != 4) return false;
  if (p->before[0] | p->after[0] | p->before[3] | p->after[3]) return false;
  if (p->value != (pool ? -128 : m.type(s.inputs[0]).quant.zero_point[0])) return false;
  Window grown = *w;
  grown.top += p->before[1], grown.bottom += p->after[1], grown.left += p->before[2], grown.right += p->after[2];
  const Shape& x = m.type(before.inputs[0]).shape;
  const Shape& y = m.type(s.output).shape;
  const bool blind = grown.top >= grown.kernel_h || grown.left >= grown.kernel_w || (y[1] - 1) * grown.stride_h - grown.top >= x[1] ||
                     (y[2] - 1) * grown.stride_w - grown.left >= x[2];
  if (pool && blind) return false;
  *w = grown;
  s.inputs[0] = before.inputs[0];
  if (uses.read_once(before.output)) vanish(m, before.origins, fmt::format("folded into {}", reader_text(m, s)));
  join(s.origins, before.origins);
  return true;
}

// Whether the action's result is shifted by its zero point, and whether its bounds are its own.
bool has_bounds(const Step& s) {
  return std::holds_alternative<Convolution>(s.action) || std::holds_alternative<Depthwise>(s.action) ||
         std::holds_alternative<TransposedConvolution>(s.action) || std::holds_alternative<FullyConnected>(s.action) ||
         std::holds_alternative<BatchMatmul>(s.action) || std::holds_alternative<Pool>(s.action) ||
         std::holds_alternative<Pairwise>(s.action) || std::holds_alternative<Reduce>(s.action) || std::holds_alternative<Prelu>(s.action);
}
bool has_zero_point(const Step& s) {
  if (const auto* p = std::get_if<Pairwise>(&s.action)) return p->fn != PairFn::maximum && p->fn != PairFn::minimum;
  if (const auto* r = std::get_if<Reduce>(&s.action)) return r->fn == ReduceFn::mean || r->fn == ReduceFn::sum;
  return has_bounds(s) && !std::holds_alternative<Pool>(s.action);
}

// x -> table: one table, or bounds of the step before. Refused when somebody else reads the middle, or bits would change: the table must be
// a bound (after a change of zero point) for every value that the step before can give.
bool fold_table(Model& m, const StepUses& uses, Step& s) {
  const auto* t = std::get_if<Table>(&s.action);
  if (!t || uses.producer[s.inputs[0]] < 0 || !uses.read_once(s.inputs[0])) return false;
  Step& before = m.steps[uses.producer[s.inputs[0]]];
  if (const auto* first = std::get_if<Table>(&before.action)) {
    Table both;
    for (size_t i = 0; i < 256; ++i) both.entry[i] = t->entry[first->entry[i] + 128];
    s.action = both;
    s.inputs = before.inputs;
    vanish(m, before.origins, fmt::format("one table with {}", reader_text(m, s)));
    join(s.origins, before.origins);
    before.output = kNoTensor;
    return true;
  }
  if (!has_bounds(before)) return false;
  const Quant &from = m.type(s.inputs[0]).quant, &to = s.y;
  i32 shift = 0;
  if (has_zero_point(before) && from.scale[0] == to.scale[0]) shift = to.zero_point[0] - from.zero_point[0];
  i32 low = 127, high = -128;
  for (i32 q = before.low; q <= before.high; ++q)
    low = std::min<i32>(low, t->entry[q + 128]), high = std::max<i32>(high, t->entry[q + 128]);
  for (i32 q = before.low; q <= before.high; ++q)
    if (t->entry[q + 128] != std::clamp(q + shift, low, high)) return false;
  const i32 zero = before.y.zero_point[0] + shift;
  if (zero < -128 || zero > 127) return false;
  before.y.zero_point[0] = zero;
  before.low = std::clamp(before.low + shift, low, high);
  before.high = std::clamp(before.high + shift, low, high);
  before.output = s.output;
  vanish(m, s.origins, fmt::format("a bound of {}", reader_text(m, before)));
  join(before.origins, s.origins);
  s.output = kNoTensor;
  return true;
}

// view -> table becomes table -> view, so that the table meets what made the value. Refused when somebody else reads the middle.
bool table_before_view(Model& m, const StepUses& uses, Step& s) {
  if (!std::holds_alternative<Table>(s.action) || uses.producer[s.inputs[0]] < 0 || !uses.read_once(s.inputs[0])) return false;
  Step& before = m.steps[uses.producer[s.inputs[0]]];
  const auto* transpose = std::get_if<Transpose>(&before.action);
  if (!std::holds_alternative<View>(before.action) && !transpose) return false;
  const TensorId x = before.inputs[0];
  if (uses.producer[x] < 0 || !uses.read_once(x) ||
      !(has_bounds(m.steps[uses.producer[x]]) || std::holds_alternative<Table>(m.steps[uses.producer[x]].action)))
    return false;
  const TensorId middle =
      m.add_tensor(m.tensors[s.output].name + " before its new shape", {DType::s8, m.type(x).shape, m.type(s.output).quant});
  Step table = s, view = before;
  table.inputs = {x};
  table.output = middle;
  view.inputs = {middle};
  view.output = s.output;
  view.y = m.type(s.output).quant;
  before = table;
  s = view;
  return true;
}

// transpose -> transpose: one. Refused when somebody else reads the middle.
bool fold_transpose(Model& m, const StepUses& uses, Step& s) {
  auto* t = std::get_if<Transpose>(&s.action);
  if (!t || uses.producer[s.inputs[0]] < 0 || !uses.read_once(s.inputs[0])) return false;
  Step& before = m.steps[uses.producer[s.inputs[0]]];
  const auto* first = std::get_if<Transpose>(&before.action);
  if (!first) return false;
  for (i64& a : t->perm) a = first->perm[a];
  s.inputs = before.inputs;
  vanish(m, before.origins, fmt::format("one transposition with {}", reader_text(m, s)));
  join(s.origins, before.origins);
  before.output = kNoTensor;
  return true;
}

// conv2d -> pool: one step, which pools its results as they leave. Refused when somebody else reads the middle, when windows overlap or
// reach outside. After all other foldings, which know no pools behind a convolution.
bool fold_pool(Model& m, const StepUses& uses, Step& s) {
  const auto* pool = std::get_if<Pool>(&s.action);
  if (!pool || uses.producer[s.inputs[0]] < 0 || !uses.read_once(s.inputs[0])) return false;
  Step& before = m.steps[uses.producer[s.inputs[0]]];
  auto* conv = std::get_if<Convolution>(&before.action);
  const Window& w = pool->window;
  if (!conv || conv->pooling || w.padded() || w.dilation_h != 1 || w.dilation_w != 1) return false;
  const Shape &x = m.type(s.inputs[0]).shape, &y = m.type(s.output).shape;
  const auto fits = [](i64 extent, i64 kernel, i64 stride, i64 out) {
    return out == extent / kernel && (stride == kernel || out == 1) && extent >= kernel;
  };
  if (!fits(x[1], w.kernel_h, w.stride_h, y[1]) || !fits(x[2], w.kernel_w, w.stride_w, y[2])) return false;
  conv->pooling = Pooling{w.kernel_h, w.kernel_w, x[1], x[2], pool->average, s.low, s.high};
  before.output = s.output;
  join(before.origins, s.origins);
  s.output = kNoTensor;
  return true;
}

// Drops steps that were folded (no output) and those that nobody reads.
bool drop_unread(Model& m) {
  const StepUses uses(m);
  std::vector<Step> kept;
  for (Step& s : m.steps) {
    if (s.output == kNoTensor) continue;
    if (uses.readers[s.output].empty() && uses.output_uses[s.output] == 0) {
      vanish(m, s.origins, "its result is not read");
      continue;
    }
    kept.push_back(std::move(s));
  }
  const bool changed = kept.size() != m.steps.size();
  m.steps = std::move(kept);
  return changed;
}

}  // namespace

void fuse(Model& m, bool fold) {
  while (drop_unread(m)) {}
  if (!fold) return;
  for (Step& s : m.steps) {
    pair_to_table(m, s);
    prelu_to_table(m, s);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < m.steps.size() && !changed; ++i) {
      Step& s = m.steps[i];
      if (!std::holds_alternative<View>(s.action) && is_identity(m, s)) {
        s.action = View{};
        s.inputs.resize(1);
        vanish(m, s.origins, "changes nothing");
        changed = true;
        break;
      }
      if (std::holds_alternative<Convolution>(s.action) || std::holds_alternative<Depthwise>(s.action) ||
          std::holds_alternative<Pool>(s.action)) {
        const StepUses uses(m);
        changed = fold_pad(m, uses, s);
      } else if (std::holds_alternative<Table>(s.action) || std::holds_alternative<Transpose>(s.action)) {
        const StepUses uses(m);
        changed = fold_table(m, uses, s) || table_before_view(m, uses, s) || fold_transpose(m, uses, s);
      }
    }
    if (changed)
      while (drop_unread(m)) {}
  }
  const StepUses uses(m);
  for (Step& s : m.steps) fold_pool(m, uses, s);
  drop_unread(m);
}

}  // namespace deuteron::neutron
