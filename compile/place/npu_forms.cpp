// SPDX-License-Identifier: Apache-2.0
// Functions of one element that the NPU has no builtin for become the builtins that they are made
// of: silu is a product with a sigmoid, the square of x is x * x. Both targets with an NPU do so
// alike: a table on the CPU is one step and exact to half of one, but each crossing to the CPU and
// back divides the model, and what an operator computes must not depend on what stands beside the
// NPU.
#include "compile/place/npu_forms.h"

#include <algorithm>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/choose_forms.h"
#include "compile/place/npu_support.h"
#include "ops/families.h"
#include "ops/pointwise/point_writer.h"

namespace deuteron {

// The longest chain that replaces one operator.
constexpr size_t kMostSteps = 16;

static bool is_number(const PointOperand& o) { return o.from == PointOperand::kNumber; }

std::optional<PointProgram> in_builtins(const Op& op) {
  const std::optional<PointProgram> given = program_of(op);
  PointWriter out(kMostSteps);
  std::vector<PointOperand> values;
  const auto value = [&](const PointOperand& o) { return o.from >= 0 ? values[o.from] : o; };
  for (const PointStep& s : given->steps) {
    PointOperand a = value(s.a), b = value(s.b);
    if (is_number(a) && (s.fn == PointFn::add || s.fn == PointFn::mul || s.fn == PointFn::minimum ||
                         s.fn == PointFn::maximum))
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

Op operator_of(const PointStep& s) {
  if (!has_second_operand(s.fn) || !is_number(s.b)) return op_of(s);
  PointStep alone = s;
  alone.a = {};
  return Pointwise{PointProgram{{alone}}};
}
bool takes_two(const PointStep& s) { return has_second_operand(s.fn) && !is_number(s.b); }

static bool is_taken(const PointStep& s, const Type& x, const NpuLimits& limits) {
  const std::vector<const Type*> in(takes_two(s) ? 2 : 1, &x), out{&x};
  const std::vector<const Constant*> data(in.size(), nullptr);
  return passed(npu_checks(operator_of(s), {TypeView(in), TypeView(out), data, limits}));
}

bool are_taken(const PointProgram& program, const Type& x, const NpuLimits& limits) {
  return std::all_of(program.steps.begin(), program.steps.end(),
                     [&](const PointStep& s) { return is_taken(s, x, limits); });
}

static std::optional<Patch> npu_form(const Graph& g, const Uses&, NodeId root,
                                     const RuleContext& context) {
  const Node& node = g.nodes[root];
  if (!has_program(node.op) || bounds_of(node.op)) return std::nullopt;
  if (keeps_exact_form(context, node)) return std::nullopt;
  if (g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  const std::vector<NpuCheck> checks = npu_checks(g, node, *context.target, context.options->npu);
  if (passed(checks) || checks.back().rule == "neutron.exclude" ||
      checks.back().rule == "neutron.constant")
    return std::nullopt;
  const std::optional<PointProgram> program = in_builtins(node.op);
  if (!program || !are_taken(*program, g.type(node.inputs[0]), context.target->npu->limits))
    return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> values;
  const auto value = [&](const PointOperand& o) {
    return o.from >= 0 ? values[o.from] : node.inputs[0];
  };
  for (const PointStep& s : program->steps) {
    std::vector<ValueId> inputs{value(s.a)};
    if (takes_two(s)) inputs.push_back(value(s.b));
    values.push_back(b.add(operator_of(s), std::move(inputs)));
  }
  return b.replace_root(values.back());
}

// sigmoid(x)   becomes   pointwise(x, sigmoid), where the NPU's fixed steps are too coarse
// A table on the CPU, exact to half a step: that of the NPU's own function has the NPU's bits.
static std::optional<Patch> table_form(const Graph& g, const Uses&, NodeId root,
                                       const RuleContext& context) {
  const Node& node = g.nodes[root];
  if (!is_table(context.decided->forms, node) || g.type(node.outputs[0]).dtype != DType::f32 ||
      !npu_takes(g, node, *context.target, context.options->npu))
    return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(b.add(Pointwise{*program_of(node.op)}, node.inputs));
}

void npu_forms(PassContext& pass) {
  if (!pass.target.npu) return;
  static constexpr Rule kRules[] = {npu_form, table_form};
  rewrite(pass.graph, is_quantized(pass.graph) ? quantized_npu_rules() : kRules, pass.rules());
}

}  // namespace deuteron
