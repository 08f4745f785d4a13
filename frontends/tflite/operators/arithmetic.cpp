// SPDX-License-Identifier: Apache-2.0
// Sums, products, comparisons and choices of two tensors.
#include <fmt/format.h>

#include <cmath>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/window.h"
#include "kernels/integer/requantize.h"
#include "ops/common/multiplier.h"

namespace deuteron::tflite {
namespace {

// The exponent of a scale that is a power of two, as TFLite finds it.
std::optional<int> exponent_of(float scale) {
  const float exponent = std::log(scale) * (1.0f / std::log(2.0f)), nearest = std::round(exponent);
  if (std::abs(exponent - nearest) >= 1e-3f) return std::nullopt;
  return static_cast<int>(nearest);
}

// Of int16 with the option for it: one operand has the result's scale, and the other one's is
// finer.
bool is_shifted(Call& c, bool may_be) {
  const Type &x = c.declared(0), &other = c.declared(1), &y = c.declared_result(0);
  for (const Type* t : {&x, &other, &y})
    if (!may_be || t->dtype != DType::s16 || t->quant.scale.size() != 1) return false;
  const auto ex = exponent_of(x.quant.scale[0]), eo = exponent_of(other.quant.scale[0]),
             ey = exponent_of(y.quant.scale[0]);
  if (!ex || !eo || !ey) return false;
  c.require(std::max(*ex, *eo) == *ey,
            "adds scales of powers of two, of which the larger one is not the result's",
            fmt::format("2^{}, 2^{}", *ex, *eo), fmt::format("2^{}", *ey), "tflite.operator.scale");
  c.require(x.shape == other.shape, "adds scales of powers of two in another shape",
            to_text(other.shape), to_text(x.shape), "tflite.operand.shape");
  c.require(*ey - std::min(*ex, *eo) <= 15, "adds scales of powers of two that lie too far apart",
            std::to_string(*ey - std::min(*ex, *eo)), "15", "tflite.operator.scale");
  return c.ok();
}

template <class Options>
void finish_sum(Call& c, float alpha) {
  const auto* o = c.options<Options>();
  c.takes(2, 2);
  Add op;
  op.alpha = alpha;
  if (o && is_of_integers(c)) {
    refuse_activation(c, o->fused_activation_function());
    return finish_integers(c, {alpha > 0 ? "aten::add" : "aten::sub", "out"},
                           {integer_argument(1)});
  }
  if (o)
    op.bounds = bounds_of(c, o->fused_activation_function()),
    op.shifted = is_shifted(c, o->pot_scale_int16());
  c.result(c.add(op, {c.real(0), c.real(1)}));
}

// Of integers, towards zero: what is left over is taken off first. The division is exact then, so
// it may round down.
void finish_integer_quotient(Call& c) {
  const ValueId a = c.in(0), b = c.in(1);
  const DType dtype = common_type(c, {a, b});
  const ValueId rest = call_broadcast(c, {"aten::fmod", "Tensor_out"}, {a, b}, dtype, "rest");
  const ValueId whole =
      call_broadcast(c, {"aten::sub", "out"}, {a, rest}, dtype, "whole", {integer_argument(1)});
  c.result(call_broadcast(c, {"aten::floor_divide", "out"}, {whole, b}, dtype));
}

void finish_integer_product(Call& c) { finish_integers(c, {"aten::mul", "out"}); }

template <class Options, class Operation, void (*finish_of_integers)(Call&)>
void import_product(Call& c) {
  const auto* o = c.options<Options>();
  c.takes(2, 2);
  if (o && is_of_integers(c)) {
    refuse_activation(c, o->fused_activation_function());
    return finish_of_integers(c);
  }
  const ValueId y = c.add(Operation{}, {c.real(0), c.real(1)});
  if (o) c.result(activated(c, y, o->fused_activation_function()));
}

template <class Operation>
void import_extreme(Call& c) {
  c.takes(2, 2);
  if (is_of_integers(c))
    return finish_integers(
        c, {std::is_same_v<Operation, Maximum> ? "aten::maximum" : "aten::minimum", "out"});
  c.result(c.add(Operation{}, {c.real(0), c.real(1)}));
}

struct CallRow {
  BuiltinOperator builtin;
  KernelName kernel;
  size_t operands;
  std::optional<DType> result;  // nothing: as the last operands
};
constexpr CallRow kCalls[] = {
    {BuiltinOperator::ATAN2, {"aten::atan2", "out"}, 2, std::nullopt},
    {BuiltinOperator::BITWISE_XOR, {"aten::bitwise_xor", "Tensor_out"}, 2, std::nullopt},
    {BuiltinOperator::EQUAL, {"aten::eq", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::FLOOR_DIV, {"aten::floor_divide", "out"}, 2, std::nullopt},
    {BuiltinOperator::FLOOR_MOD, {"aten::remainder", "Tensor_out"}, 2, std::nullopt},
    {BuiltinOperator::GREATER, {"aten::gt", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::GREATER_EQUAL, {"aten::ge", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::LESS, {"aten::lt", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::LESS_EQUAL, {"aten::le", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::LOGICAL_AND, {"aten::logical_and", "out"}, 2, DType::b8},
    {BuiltinOperator::LOGICAL_NOT, {"aten::logical_not", "out"}, 1, DType::b8},
    {BuiltinOperator::LOGICAL_OR, {"aten::logical_or", "out"}, 2, DType::b8},
    {BuiltinOperator::NOT_EQUAL, {"aten::ne", "Tensor_out"}, 2, DType::b8},
    {BuiltinOperator::POW, {"aten::pow", "Tensor_Tensor_out"}, 2, std::nullopt},
    {BuiltinOperator::RIGHT_SHIFT, {"aten::bitwise_right_shift", "Tensor_out"}, 2, std::nullopt},
    {BuiltinOperator::SELECT, {"aten::where", "self_out"}, 3, std::nullopt},
    {BuiltinOperator::SELECT_V2, {"aten::where", "self_out"}, 3, std::nullopt},
};

// What TFLite takes for equal: its numbers for steps (deuteron::compared_16x8).
ValueId compared(Call& c, size_t operand) {
  const Type& x = c.declared(operand);
  const ValueId steps = c.steps_value(operand);
  c.require(x.quant.scale.size() == 1 && x.quant.scale[0] < 1,
            "compares int16 whose scale is not below 1", to_text(x), "a scale below 1",
            "tflite.operator.scale");
  const auto m = c.ok() ? multiplier_of(x.quant.scale[0], Ties::away) : std::nullopt;
  if (!m) return -1;
  return call_on(c, {"deuteron::compared_16x8", "out"}, steps,
                 {integer_argument(m->value), integer_argument(m->shift)},
                 {DType::s32, x.shape, {}}, fmt::format("number{}", operand));
}

// TFLite compares steps of int16 as they stand, whatever their scales, and picks and divides them
// as they stand.
void finish_on_int16(Call& c, const CallRow& row) {
  using B = BuiltinOperator;
  const bool picks = row.operands == 3,
             equal = row.builtin == B::EQUAL || row.builtin == B::NOT_EQUAL;
  const Type &x = c.declared(row.operands - 2), &other = c.declared(row.operands - 1),
             &y = c.declared_result(0);
  c.require(x.dtype == other.dtype, "takes int16 beside another type", to_text(other), to_text(x),
            "tflite.operand.type");
  if (picks)
    c.require(x.quant == other.quant && x.quant == y.quant, "picks from int16 of several scales",
              fmt::format("{}, {}", to_text(other), to_text(y)), to_text(x),
              "tflite.operator.scale");
  std::vector<ValueId> operands;
  if (picks) operands.push_back(c.in(0));
  for (const size_t i : {row.operands - 2, row.operands - 1})
    operands.push_back(equal ? compared(c, i) : c.steps_value(i));
  c.result(call_broadcast(c, row.kernel, std::move(operands), row.result.value_or(DType::s16), {},
                          {}, row.result ? Quant() : y.quant));
}

// What TFLite compares: steps of int8 in steps of 2^-8, rounded twice. Below a scale of 2^-8
// several steps are one number there.
std::optional<i32> compared_number(const Quant& q, i32 step) {
  if (q.scale.size() != 1 || q.scale[0] >= 1) return std::nullopt;
  const auto m = multiplier_of(q.scale[0], Ties::away);
  return m ? std::optional(requantize((step - q.zero_point[0]) * 256, m->value, m->shift))
           : std::nullopt;
}

// Of an order of int8 beside one constant step: the real number between the steps for which it
// holds and the others.
std::optional<float> border_of(Call& c, BuiltinOperator builtin) {
  using B = BuiltinOperator;
  if (builtin != B::LESS && builtin != B::LESS_EQUAL && builtin != B::GREATER &&
      builtin != B::GREATER_EQUAL)
    return std::nullopt;
  const bool first = c.is_constant(0);  // the constant
  const Type &x = c.declared(first ? 1 : 0), &other = c.declared(first ? 0 : 1);
  if (first == c.is_constant(1) || x.dtype != DType::s8 || other.dtype != DType::s8 ||
      other.elements() != 1)
    return std::nullopt;
  if (c.declared_result(0).shape != x.shape) return std::nullopt;
  const std::span<const int8_t> step = c.steps(first ? 0 : 1);
  const auto number = step.empty() ? std::nullopt : compared_number(other.quant, step[0]);
  if (!number || !compared_number(x.quant, 0)) return std::nullopt;
  const bool above = (builtin == B::LESS_EQUAL || builtin == B::GREATER) !=
                     first;  // the border lies above all that are equal
  i32 border = -128;
  while (border <= 127 && (above ? *compared_number(x.quant, border) <= *number
                                 : *compared_number(x.quant, border) < *number))
    ++border;
  return (static_cast<float>(border - x.quant.zero_point[0]) - 0.5f) * x.quant.scale[0];
}

void import_call(Call& c) {
  for (const CallRow& row : kCalls)
    if (EnumNameBuiltinOperator(row.builtin) == c.builtin()) {
      c.takes(row.operands, row.operands);
      if (!c.ok()) return;
      // The first SELECT picks rows by a condition of one axis; the second broadcasts, as ours
      // does.
      if (row.builtin == BuiltinOperator::SELECT)
        c.require(c.declared(0).shape == c.declared(1).shape || c.declared(0).elements() == 1,
                  "picks whole rows, which is not supported", to_text(c.declared(0).shape),
                  to_text(c.declared(1).shape), "tflite.select.rows");
      if (row.operands >= 2 && c.declared(row.operands - 2).dtype == DType::s16)
        return finish_on_int16(c, row);
      std::vector<ValueId> operands;
      for (size_t i = 0; i < row.operands; ++i) operands.push_back(c.in(i));
      if (!c.ok()) return;
      if (const auto border = row.operands == 2 ? border_of(c, row.builtin) : std::nullopt) {
        ValueId& constant = operands[c.is_constant(0) ? 0 : 1];
        constant = c.constant("border", {DType::f32, c.shape(constant), {}},
                              constant_of(std::vector<float>{*border}));
      }
      const DType dtype =
          row.result ? *row.result
                     : common_type(c, {operands[row.operands - 2], operands[row.operands - 1]});
      return c.result(call_broadcast(c, row.kernel, std::move(operands), dtype));
    }
}

}  // namespace

static void import_add(Call& c) { finish_sum<AddOptions>(c, 1); }
static void import_sub(Call& c) { finish_sum<SubOptions>(c, -1); }

static void import_add_n(Call& c) {
  ValueId sum = c.real(0);
  for (size_t i = 1; i < c.operands() && c.ok(); ++i)
    sum = c.add(Add{}, {sum, c.real(i)}, i + 1 == c.operands() ? "" : fmt::format("sum{}", i));
  c.result(sum);
}

static void import_squared_difference(Call& c) {
  c.takes(2, 2);
  Add difference;
  difference.alpha = -1;
  c.result(
      c.add(Unary{UnaryFn::pow, 2}, {c.add(difference, {c.real(0), c.real(1)}, "difference")}));
}

static constexpr ImportRow kArithmeticRows[] = {
    {BuiltinOperator::ADD, import_add, Int16::taken},
    {BuiltinOperator::ADD_N, import_add_n},
    {BuiltinOperator::ATAN2, import_call},
    {BuiltinOperator::BITWISE_XOR, import_call},
    {BuiltinOperator::DIV, import_product<DivOptions, Div, finish_integer_quotient>, Int16::taken},
    {BuiltinOperator::EQUAL, import_call, Int16::taken},
    {BuiltinOperator::FLOOR_DIV, import_call, Int16::taken},
    {BuiltinOperator::FLOOR_MOD, import_call, Int16::taken},
    {BuiltinOperator::GREATER, import_call, Int16::taken},
    {BuiltinOperator::GREATER_EQUAL, import_call, Int16::taken},
    {BuiltinOperator::LESS, import_call, Int16::taken},
    {BuiltinOperator::LESS_EQUAL, import_call, Int16::taken},
    {BuiltinOperator::LOGICAL_AND, import_call},
    {BuiltinOperator::LOGICAL_NOT, import_call},
    {BuiltinOperator::LOGICAL_OR, import_call},
    {BuiltinOperator::MAXIMUM, import_extreme<Maximum>, Int16::taken},
    {BuiltinOperator::MINIMUM, import_extreme<Minimum>, Int16::taken},
    {BuiltinOperator::MUL, import_product<MulOptions, Mul, finish_integer_product>, Int16::taken},
    {BuiltinOperator::NOT_EQUAL, import_call, Int16::taken},
    {BuiltinOperator::POW, import_call},
    {BuiltinOperator::RIGHT_SHIFT, import_call},
    {BuiltinOperator::SELECT, import_call, Int16::taken},
    {BuiltinOperator::SELECT_V2, import_call, Int16::taken},
    {BuiltinOperator::SQUARED_DIFFERENCE, import_squared_difference, Int16::taken},
    {BuiltinOperator::SUB, import_sub, Int16::taken},
};
ImportRows arithmetic_rows() { return kArithmeticRows; }

}  // namespace deuteron::tflite
