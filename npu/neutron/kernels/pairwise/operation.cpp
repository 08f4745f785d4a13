// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pairwise/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/kernels/table/operation.h"

namespace deuteron::neutron {
namespace {

Fault read_pair(OperatorReader& op, PairFn fn, Operation s) {
  DEUTERON_TRY(op.int8(0));
  DEUTERON_TRY(op.int8(1));
  DEUTERON_TRY(op.int8_result());
  const Shape &a = op.shape(0), &b = op.shape(1);
  Shape expected(std::max(a.size(), b.size()), 1);
  for (size_t back = 1; back <= expected.size(); ++back) {
    const i64 ea = back <= a.size() ? a[a.size() - back] : 1,
              eb = back <= b.size() ? b[b.size() - back] : 1;
    if (ea != eb && ea != 1 && eb != 1)
      return op.wrong("extents of the operands", fmt::format("{}, {}", ea, eb), "equal, or 1");
    expected[expected.size() - back] = std::max(ea, eb);
  }
  DEUTERON_TRY(op.shape_of_y(expected));
  return op.push(pairwise_operation, Pairwise{fn}, {op.in(0), op.in(1)}, s);
}

template <PairFn kFn, class Options>
Fault read_arithmetic(OperatorReader& op, const tflite::Operator& o) {
  DEUTERON_TRY(op.int8_result());
  Operation s;
  if (const auto* p = o.builtin_options_as<Options>())
    DEUTERON_TRY(op.activation(p->fused_activation_function(), &s));
  return read_pair(op, kFn, s);
}

template <PairFn kFn>
Fault read_extreme(OperatorReader& op, const tflite::Operator&) {
  for (size_t i : {0, 1}) {
    DEUTERON_TRY(op.int8(i));
    DEUTERON_TRY(op.int8_result());
    DEUTERON_TRY(op.same_quant(i));
  }
  return read_pair(op, kFn, {});
}

Ending ending(const Operation& s) {
  const PairFn fn = s.as<Pairwise>().fn;
  return fn == PairFn::maximum || fn == PairFn::minimum ? Ending::bounded : Ending::requantized;
}

// x op constant, x op x. Refused when the constant has several values or makes the result larger.
std::optional<FunctionOfOne> as_function(const Model& m, const Operation& s) {
  const PairFn fn = s.as<Pairwise>().fn;
  const TensorId a = s.inputs[0], b = s.inputs[1];
  const auto ca = uniform_value(m, a), cb = uniform_value(m, b);
  const bool same = a == b;
  if (!same && !ca && !cb) return std::nullopt;
  const bool x_is_second = !same && ca && !cb;
  const TensorId x = x_is_second ? b : a;
  if (m.is_constant(x) || m.type(x).elements() != m.type(s.output).elements()) return std::nullopt;
  const Quant &qa = m.type(a).quant, &qb = m.type(b).quant;
  const auto f = pair_multipliers(fn, qa, qb, s.y, Rounding::tflite, kScaleRule);
  if (!f) return std::nullopt;
  FunctionOfOne t{x, {}};
  for (i32 q = -128; q <= 127; ++q) {
    const i32 left = same || !x_is_second ? q : *ca, right = same || x_is_second ? q : *cb;
    t.value[q + 128] = static_cast<int8_t>(
        std::clamp(pair_value(fn, *f, qa, qb, s.y, left, right), s.low, s.high));
  }
  return t;
}

// A tensor as a table of another one: by the operation that makes it, if that is read here alone;
// without one, of itself.
struct TableOf {
  TensorId x;
  Operation* table;
  i32 operator()(i32 q) const { return table ? table->as<Table>().entry[q + 128] : q; }
};
TableOf table_of_operand(Model& m, const TensorUses& uses, TensorId t) {
  const i32 maker = uses.producer[t];
  Operation* table = maker < 0 ? nullptr : &m.operations[maker];
  if (!table || table->def != &table_operation || !uses.read_once(t)) return {t, nullptr};
  return {table->inputs[0], table};
}

// f(x) op g(x), x op f(x)   become   a table of x. Refused when somebody else reads f(x) or g(x).
bool fold(Model& m, const TensorUses& uses, Operation& s) {
  const TableOf a = table_of_operand(m, uses, s.inputs[0]),
                b = table_of_operand(m, uses, s.inputs[1]);
  if (a.x != b.x || m.is_constant(a.x) || m.type(a.x).elements() != m.type(s.output).elements())
    return false;
  const PairFn fn = s.as<Pairwise>().fn;
  const Quant &qa = m.type(s.inputs[0]).quant, &qb = m.type(s.inputs[1]).quant;
  const auto f = pair_multipliers(fn, qa, qb, s.y, Rounding::tflite, kScaleRule);
  if (!f) return false;
  Table all;
  for (i32 q = -128; q <= 127; ++q)
    all.entry[q + 128] =
        static_cast<int8_t>(std::clamp(pair_value(fn, *f, qa, qb, s.y, a(q), b(q)), s.low, s.high));
  for (Operation* part : {a.table, b.table}) {
    if (!part) continue;
    vanish(m, part->origins, fmt::format("one table with {}", name_in_reports(m, s)));
    join_origins(s, *part);
    part->output = kNoTensor;
  }
  s.def = &table_operation;
  s.attributes = all;
  s.inputs = {a.x};
  s.low = -128, s.high = 127;
  return true;
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Pairwise>();
  const TensorId x = s.inputs[0], other = s.inputs[1];
  const Shape& y = l.shape(s.output);
  const auto f = pair_multipliers(a.fn, l.type(x).quant, l.type(other).quant, s.y, Rounding::tflite,
                                  kScaleRule);
  if (!f) return l.bad_scale("pairwise");
  StridedAxes walk{y, {l.strides_over(x, y), l.strides_over(other, y), l.strides(s.output)}};
  walk.simplify();
  if (!walk.fits())
    return l.wrong("axes", static_cast<i64>(walk.extent.size()), kMaxRank, "pairwise");
  PairCall c{};
  walk.fill(c.extent);
  walk.fill(0, c.x_stride);
  walk.fill(1, c.other_stride);
  c.left_shift = f->left_shift;
  c.x_zero = l.type(x).quant.zero_point[0], c.x_multiplier = f->x.value, c.x_shift = f->x.shift;
  c.other_zero = l.type(other).quant.zero_point[0], c.other_multiplier = f->other.value,
  c.other_shift = f->other.shift;
  c.y_zero = s.y.zero_point[0], c.y_multiplier = f->y.value, c.y_shift = f->y.shift;
  fill_bounds(c, s);
  l.locate(c.x, x);
  l.locate(c.other, other);
  l.locate(c.y, s.output);
  constexpr Kind kKinds[] = {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMaximum, Kind::kMinimum};
  l.push(kKinds[static_cast<size_t>(a.fn)], c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::ADD, "add", 2, 2, false,
     read_arithmetic<PairFn::add, tflite::AddOptions>},
    {tflite::BuiltinOperator::SUB, "sub", 2, 2, false,
     read_arithmetic<PairFn::sub, tflite::SubOptions>},
    {tflite::BuiltinOperator::MUL, "mul", 2, 2, false,
     read_arithmetic<PairFn::mul, tflite::MulOptions>},
    {tflite::BuiltinOperator::MAXIMUM, "maximum", 2, 2, false, read_extreme<PairFn::maximum>},
    {tflite::BuiltinOperator::MINIMUM, "minimum", 2, 2, false, read_extreme<PairFn::minimum>},
};

}  // namespace

const OperationDef pairwise_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = never_identity,
               .ending = ending,
               .only_moves = false,
               .as_function = as_function,
               .fold = fold,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_all_gaps,
                .writes_gaps = writes_no_gaps,
                .overwrites = 2,
                .share = nullptr,
                .without_kernel = {}},
    .lower = lower,
};

}  // namespace deuteron::neutron
