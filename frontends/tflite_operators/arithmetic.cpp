// Sums, products, comparisons and choices of two tensors.
#include <fmt/format.h>

#include "frontends/tflite_operators/import_table.h"
#include "frontends/tflite_operators/window.h"
#include "ops/elementwise/broadcast.h"

namespace deuteron::tflite {
namespace {

template <class Options>
void finish_sum(Call& c, float alpha) {
  const auto* o = c.options<Options>();
  c.takes(2, 2);
  Add op;
  op.alpha = alpha;
  if (o) op.bounds = bounds_of(c, o->fused_activation_function());
  c.result(c.add(op, {c.real(0), c.real(1)}));
}

template <class Options, class Operation>
void import_product(Call& c) {
  const auto* o = c.options<Options>();
  c.takes(2, 2);
  const ValueId y = c.add(Operation{}, {c.real(0), c.real(1)});
  if (o) c.result(activated(c, y, o->fused_activation_function()));
}

template <class Operation>
void import_extreme(Call& c) {
  c.takes(2, 2);
  c.result(c.add(Operation{}, {c.real(0), c.real(1)}));
}

// A call of a portable kernel on all operands, in float: name(operands.., out).
void finish_call(Call& c, const char* name, const char* overload, DType dtype) {
  std::vector<ValueId> inputs;
  KernelCall call;
  call.name = name, call.overload = overload;
  Shape shape;
  for (size_t i = 0; i < c.operands(); ++i) {
    const ValueId v = c.in(i);
    if (!c.ok()) return;
    const auto common = i == 0 ? std::optional<Shape>(c.shape(v)) : broadcast_shape(shape, c.shape(v));
    c.require(common.has_value(), "has operands whose shapes do not fit each other", to_text(c.shape(v)), to_text(shape),
              "tflite.operand.shape");
    if (!c.ok()) return;
    shape = *common;
    call.args.push_back({KernelArg::Kind::input, static_cast<i64>(i), 0, {}, plain_face(c.shape(v))});
    inputs.push_back(v);
  }
  call.args.push_back({KernelArg::Kind::output, 0, 0, {}, plain_face(shape)});
  c.result(c.add_call(std::move(call), std::move(inputs), {dtype, shape, {}}));
}

struct CallRow {
  BuiltinOperator builtin;
  const char *name, *overload;
  size_t operands;
  DType result;
};
constexpr CallRow kCalls[] = {
    {BuiltinOperator::EQUAL, "aten::eq", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::FLOOR_MOD, "aten::remainder", "Tensor_out", 2, DType::f32},
    {BuiltinOperator::GREATER, "aten::gt", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::GREATER_EQUAL, "aten::ge", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::LESS, "aten::lt", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::LESS_EQUAL, "aten::le", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::LOGICAL_AND, "aten::logical_and", "out", 2, DType::b8},
    {BuiltinOperator::LOGICAL_NOT, "aten::logical_not", "out", 1, DType::b8},
    {BuiltinOperator::LOGICAL_OR, "aten::logical_or", "out", 2, DType::b8},
    {BuiltinOperator::NOT_EQUAL, "aten::ne", "Tensor_out", 2, DType::b8},
    {BuiltinOperator::POW, "aten::pow", "Tensor_Tensor_out", 2, DType::f32},
    {BuiltinOperator::SELECT, "aten::where", "self_out", 3, DType::f32},
    {BuiltinOperator::SELECT_V2, "aten::where", "self_out", 3, DType::f32},
};

void import_call(Call& c) {
  for (const CallRow& row : kCalls)
    if (EnumNameBuiltinOperator(row.builtin) == c.builtin()) {
      c.takes(row.operands, row.operands);
      if (!c.ok()) return;
      // The first SELECT picks rows by a condition of one axis; the second broadcasts, as ours does.
      if (row.builtin == BuiltinOperator::SELECT)
        c.require(c.declared(0).shape == c.declared(1).shape || c.declared(0).elements() == 1, "picks whole rows, which is not supported",
                  to_text(c.declared(0).shape), to_text(c.declared(1).shape), "tflite.select.rows");
      return finish_call(c, row.name, row.overload, row.result);
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
  c.result(c.add(Unary{UnaryFn::pow, 2}, {c.add(difference, {c.real(0), c.real(1)}, "difference")}));
}

static constexpr ImportRow kArithmeticRows[] = {
    {BuiltinOperator::ADD, import_add},
    {BuiltinOperator::ADD_N, import_add_n},
    {BuiltinOperator::DIV, import_product<DivOptions, Div>},
    {BuiltinOperator::EQUAL, import_call},
    {BuiltinOperator::FLOOR_MOD, import_call},
    {BuiltinOperator::GREATER, import_call},
    {BuiltinOperator::GREATER_EQUAL, import_call},
    {BuiltinOperator::LESS, import_call},
    {BuiltinOperator::LESS_EQUAL, import_call},
    {BuiltinOperator::LOGICAL_AND, import_call},
    {BuiltinOperator::LOGICAL_NOT, import_call},
    {BuiltinOperator::LOGICAL_OR, import_call},
    {BuiltinOperator::MAXIMUM, import_extreme<Maximum>},
    {BuiltinOperator::MINIMUM, import_extreme<Minimum>},
    {BuiltinOperator::MUL, import_product<MulOptions, Mul>},
    {BuiltinOperator::NOT_EQUAL, import_call},
    {BuiltinOperator::POW, import_call},
    {BuiltinOperator::SELECT, import_call},
    {BuiltinOperator::SELECT_V2, import_call},
    {BuiltinOperator::SQUARED_DIFFERENCE, import_squared_difference},
    {BuiltinOperator::SUB, import_sub},
};
ImportRows arithmetic_rows() { return kArithmeticRows; }

}  // namespace deuteron::tflite
