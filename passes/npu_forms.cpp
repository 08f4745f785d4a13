// Functions of one element that the NPU has no builtin for become the builtins that they are made of: silu is a product with a sigmoid, the
// square of x is x * x. A table on the CPU is more exact and one step, but crossing to the CPU and back costs more; where there is no CPU
// to cross to, longer chains are taken too. Quantized models keep what they have: there are no parameters for the values between.
#include <algorithm>
#include <cmath>

#include "passes/npu_support.h"
#include "passes/pass.h"
#include "rewrite/patch.h"

namespace deuteron {
namespace {

// Builtins that replace one call of the CPU: with more, rounding after each costs more accuracy than the crossing is worth. With the NPU
// alone the choice is that or nothing.
constexpr size_t kMostBesideCpu = 4, kMostAlone = 16;

// A program with the functions of the NPU alone, while it grows.
class Builtins {
 public:
  PointProgram program;
  bool fits = true;

  PointOperand number(double v) const { return {PointOperand::kNumber, static_cast<float>(v)}; }
  PointOperand step(PointFn fn, PointOperand a, PointOperand b) {
    PointStep s;
    s.fn = fn;
    s.a = a;
    s.b = b;
    return push(s);
  }
  PointOperand add(PointOperand a, PointOperand b) { return step(PointFn::add, a, b); }
  PointOperand mul(PointOperand a, PointOperand b) { return step(PointFn::mul, a, b); }
  PointOperand clamp(PointOperand a, Bounds bounds) {
    PointStep s;
    s.fn = PointFn::clamp;
    s.a = a;
    s.bounds = bounds;
    return push(s);
  }
  PointOperand unary(UnaryFn fn, PointOperand a, float alpha = 0) {
    switch (fn) {
      case UnaryFn::silu:
        return mul(a, unary(UnaryFn::sigmoid, a));
      case UnaryFn::hardsigmoid:
        return clamp(add(mul(a, number(1.0 / 6)), number(0.5)), {.low = 0, .high = 1});
      case UnaryFn::log1p:
        return unary(UnaryFn::log, add(a, number(1)));
      case UnaryFn::expm1:
        return add(unary(UnaryFn::exp, a), number(-1));
      case UnaryFn::pow:
        if (alpha == 2) return mul(a, a);
        if (alpha == 3) return mul(a, mul(a, a));
        fits = false;
        return a;
      case UnaryFn::elu: {  // of the negative part, so that nothing grows without bound
        const PointOperand below = add(unary(UnaryFn::exp, clamp(a, {.high = 0})), number(-1));
        return add(clamp(a, {.low = 0}), alpha == 1 ? below : mul(below, number(alpha)));
      }
      case UnaryFn::softplus: {  // log(1 + exp(-|a|)) + max(a, 0)
        const PointOperand small = unary(UnaryFn::exp, unary(UnaryFn::neg, unary(UnaryFn::abs, a)));
        return add(unary(UnaryFn::log1p, small), clamp(a, {.low = 0}));
      }
      // a * sigmoid(2 u), where tanh(u) approximates erf(a / sqrt(2)) to 0.0005: u = sqrt(2 / pi) * (a + 0.044715 * a^3)
      case UnaryFn::gelu:
      case UnaryFn::gelu_tanh: {
        const double twice = 2 * std::sqrt(2 / std::acos(-1.0));
        const PointOperand slope = add(mul(mul(a, a), number(0.044715 * twice)), number(twice));
        return mul(a, unary(UnaryFn::sigmoid, mul(a, slope)));
      }
      default:
        break;
    }
    PointStep s;
    s.unary = fn;
    s.alpha = alpha;
    s.a = a;
    return push(s);
  }

 private:
  PointOperand push(const PointStep& s) {
    program.steps.push_back(s);
    fits = fits && program.steps.size() <= kMostAlone;
    return {static_cast<i64>(program.steps.size()) - 1, 0};
  }
};

bool is_number(const PointOperand& o) { return o.from == PointOperand::kNumber; }

// The program of a node in steps of the NPU; nothing where there is none.
std::optional<PointProgram> in_builtins(const Op& op) {
  PointProgram given;
  if (const auto* pointwise = std::get_if<Pointwise>(&op)) {
    given = pointwise->program;
  } else if (const auto* unary = std::get_if<Unary>(&op)) {
    PointStep s;
    s.unary = unary->fn;
    s.alpha = unary->alpha;
    given.steps.push_back(s);
  } else {
    return std::nullopt;
  }
  Builtins out;
  std::vector<PointOperand> values;
  const auto value = [&](const PointOperand& o) { return o.from >= 0 ? values[o.from] : o; };
  for (const PointStep& s : given.steps) {
    PointOperand a = value(s.a), b = value(s.b);
    if (is_number(a) && (s.fn == PointFn::add || s.fn == PointFn::mul || s.fn == PointFn::minimum || s.fn == PointFn::maximum))
      std::swap(a, b);
    if (is_number(a) && s.fn != PointFn::sub) return std::nullopt;
    switch (s.fn) {
      case PointFn::unary:
        values.push_back(out.unary(s.unary, a, s.alpha));
        break;
      case PointFn::clamp:
        values.push_back(out.clamp(a, s.bounds));
        break;
      case PointFn::sub:
        if (is_number(b)) values.push_back(out.add(a, out.number(-b.number)));
        else if (is_number(a)) values.push_back(out.add(out.unary(UnaryFn::neg, b), a));
        else values.push_back(out.step(PointFn::sub, a, b));
        break;
      case PointFn::div:
        if (!is_number(b) || b.number == 0) return std::nullopt;
        values.push_back(out.mul(a, out.number(1.0 / b.number)));
        break;
      case PointFn::minimum:
        values.push_back(is_number(b) ? out.clamp(a, {.high = b.number}) : out.step(s.fn, a, b));
        break;
      case PointFn::maximum:
        values.push_back(is_number(b) ? out.clamp(a, {.low = b.number}) : out.step(s.fn, a, b));
        break;
      default:
        values.push_back(out.step(s.fn, a, b));
    }
    if (!out.fits) return std::nullopt;
  }
  return out.program.steps.empty() ? std::nullopt : std::optional(out.program);
}

// One float operator for a step.
Op op_of(const PointStep& s) {
  if (s.fn == PointFn::unary) return Unary{s.unary, s.alpha};
  if (s.fn == PointFn::clamp) return Clamp{s.bounds};
  if (is_number(s.b)) {
    PointStep alone = s;
    alone.a = {};
    Pointwise op;
    op.program.steps = {alone};
    return op;
  }
  Add difference;
  difference.alpha = -1;
  switch (s.fn) {
    case PointFn::add:
      return Add{};
    case PointFn::sub:
      return difference;
    case PointFn::mul:
      return Mul{};
    case PointFn::minimum:
      return Minimum{};
    default:
      return Maximum{};
  }
}

bool is_taken(const Op& op, const Type& x, const NpuLimits& limits) {
  const bool pair = !std::holds_alternative<Unary>(op) && !std::holds_alternative<Clamp>(op) && !std::holds_alternative<Pointwise>(op);
  const std::vector<const Type*> in(pair ? 2 : 1, &x), out{&x};
  const std::vector<const Constant*> data(in.size(), nullptr);
  return passed(npu_checks(op, {TypeView(in), TypeView(out), data, limits}));
}

std::optional<Patch> npu_form(const Graph& g, NodeId root, PassContext& pass) {
  const Node& node = g.nodes[root];
  if (!op_as<Unary>(g, root) && !op_as<Pointwise>(g, root)) return std::nullopt;
  if (g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  const std::vector<NpuCheck> checks = npu_checks(g, node, pass.target, pass.options.npu);
  if (passed(checks) || checks.back().rule == "neutron.exclude" || checks.back().rule == "neutron.constant") return std::nullopt;
  const std::optional<PointProgram> program = in_builtins(node.op);
  const size_t most = pass.target.has_backend("cortex_m") ? kMostBesideCpu : kMostAlone;
  if (!program || program->steps.size() > most) return std::nullopt;
  const Type& x = g.type(node.inputs[0]);
  for (const PointStep& s : program->steps)
    if (!is_taken(op_of(s), x, pass.target.npu->limits)) return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> values;
  const auto value = [&](const PointOperand& o) { return o.from >= 0 ? values[o.from] : node.inputs[0]; };
  for (const PointStep& s : program->steps) {
    const Op op = op_of(s);
    std::vector<ValueId> inputs{value(s.a)};
    if (s.fn != PointFn::unary && s.fn != PointFn::clamp && !is_number(s.b)) inputs.push_back(value(s.b));
    values.push_back(b.add(op, inputs));
  }
  return b.replace_root(values.back());
}

}  // namespace

void npu_forms(PassContext& pass) {
  if (!pass.target.npu) return;
  const auto is_edge = [](const Node& n) { return std::holds_alternative<Quantize>(n.op) || std::holds_alternative<Dequantize>(n.op); };
  if (std::any_of(pass.graph.nodes.begin(), pass.graph.nodes.end(), is_edge)) return;
  // What a patch makes is taken as it is: it is not looked at again.
  for (NodeId n = 0; n < static_cast<NodeId>(pass.graph.nodes.size()); ++n) {
    if (*pass.rewrites_left == 0) return;
    std::optional<Patch> patch = npu_form(pass.graph, n, pass);
    if (!patch) continue;
    if (*pass.rewrites_left > 0) --*pass.rewrites_left;
    apply(pass.graph, *std::move(patch), n);
  }
}

}  // namespace deuteron
