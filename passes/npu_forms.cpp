// Functions of one element that the NPU has no builtin for become the builtins that they are made of: silu is a product with a sigmoid, the
// square of x is x * x. A table on the CPU is more exact and one step, but crossing to the CPU and back costs more; where there is no CPU
// to cross to, longer chains are taken too. Quantized models keep what they have: there are no parameters for the values between.
#include <algorithm>

#include "ops/families.h"
#include "ops/pointwise/point_op.h"
#include "ops/pointwise/point_writer.h"
#include "passes/npu_support.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "rewrite/patch.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Builtins that replace one call of the CPU: with more, rounding after each costs more accuracy than the crossing is worth. With the NPU
// alone the choice is that or nothing.
constexpr size_t kMostBesideCpu = 4, kMostAlone = 16;

bool is_number(const PointOperand& o) { return o.from == PointOperand::kNumber; }

// The program of a node in steps of the NPU; nothing where there is none.
std::optional<PointProgram> in_builtins(const Op& op) {
  const std::optional<PointProgram> given = program_of(op);
  PointWriter out(kMostAlone);
  std::vector<PointOperand> values;
  const auto value = [&](const PointOperand& o) { return o.from >= 0 ? values[o.from] : o; };
  for (const PointStep& s : given->steps) {
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
    if (!out.fits()) return std::nullopt;
  }
  return out.program().steps.empty() ? std::nullopt : std::optional(out.program());
}

// One float operator for a step: with a number, a function of one element.
Op operator_of(const PointStep& s) {
  if (!has_second_operand(s.fn) || !is_number(s.b)) return op_of(s);
  PointStep alone = s;
  alone.a = {};
  return Pointwise{PointProgram{{alone}}};
}
bool takes_two(const PointStep& s) { return has_second_operand(s.fn) && !is_number(s.b); }

bool is_taken(const PointStep& s, const Type& x, const NpuLimits& limits) {
  const std::vector<const Type*> in(takes_two(s) ? 2 : 1, &x), out{&x};
  const std::vector<const Constant*> data(in.size(), nullptr);
  return passed(npu_checks(operator_of(s), {TypeView(in), TypeView(out), data, limits}));
}

std::optional<Patch> npu_form(const Graph& g, const Uses&, NodeId root, const RuleContext& context) {
  const Node& node = g.nodes[root];
  if (!has_program(node.op) || bounds_of(node.op)) return std::nullopt;
  if (g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  const std::vector<NpuCheck> checks = npu_checks(g, node, *context.target, context.options->npu);
  if (passed(checks) || checks.back().rule == "neutron.exclude" || checks.back().rule == "neutron.constant") return std::nullopt;
  const std::optional<PointProgram> program = in_builtins(node.op);
  const size_t most = context.target->has_backend("cortex_m") ? kMostBesideCpu : kMostAlone;
  if (!program || program->steps.size() > most) return std::nullopt;
  const Type& x = g.type(node.inputs[0]);
  for (const PointStep& s : program->steps)
    if (!is_taken(s, x, context.target->npu->limits)) return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> values;
  const auto value = [&](const PointOperand& o) { return o.from >= 0 ? values[o.from] : node.inputs[0]; };
  for (const PointStep& s : program->steps) {
    std::vector<ValueId> inputs{value(s.a)};
    if (takes_two(s)) inputs.push_back(value(s.b));
    values.push_back(b.add(operator_of(s), std::move(inputs)));
  }
  return b.replace_root(values.back());
}

}  // namespace

void npu_forms(PassContext& pass) {
  if (!pass.target.npu) return;
  if (std::any_of(pass.graph.nodes.begin(), pass.graph.nodes.end(), [](const Node& n) { return is_quantize_or_dequantize(n.op); })) return;
  static constexpr Rule kRules[] = {npu_form};
  rewrite(pass.graph, kRules, pass.rules());
}

}  // namespace deuteron
