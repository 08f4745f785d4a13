// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators/calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/common/broadcast.h"

namespace deuteron::tflite {

using K = KernelArg::Kind;
KernelArg integer_argument(i64 value) { return {K::integer, value, 0, {}, {}}; }
KernelArg truth_argument(bool value) { return {K::boolean, value ? 1 : 0, 0, {}, {}}; }
KernelArg integers_argument(std::vector<i64> values) {
  return {K::integers, 0, 0, std::move(values), {}};
}

ValueId call_broadcast(Call& c, KernelName kernel, std::vector<ValueId> operands, DType dtype,
                       std::string_view suffix, std::vector<KernelArg> more, const Quant& quant) {
  KernelCall call;
  call.name = kernel.name, call.overload = kernel.overload;
  Shape shape;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ValueId v = operands[i];
    if (!c.ok() || v < 0) return -1;
    const auto common =
        i == 0 ? std::optional<Shape>(c.shape(v)) : broadcast_shape(shape, c.shape(v));
    c.require(common.has_value(), "has operands whose shapes do not fit each other",
              to_text(c.shape(v)), to_text(shape), "tflite.operand.shape");
    if (!c.ok()) return -1;
    shape = *common;
    call.args.push_back({K::input, static_cast<i64>(i), 0, {}, plain_face(c.shape(v))});
  }
  std::move(more.begin(), more.end(), std::back_inserter(call.args));
  call.args.push_back({K::output, 0, 0, {}, plain_face(shape)});
  return c.add_call(std::move(call), std::move(operands), {dtype, shape, quant}, suffix);
}

ValueId call_on(Call& c, KernelName kernel, ValueId x, std::vector<KernelArg> more, Type result,
                std::string_view suffix) {
  if (!c.ok() || x < 0) return -1;
  KernelCall call;
  call.name = kernel.name, call.overload = kernel.overload;
  call.args.push_back({K::input, 0, 0, {}, plain_face(c.shape(x))});
  std::move(more.begin(), more.end(), std::back_inserter(call.args));
  call.args.push_back({K::output, 0, 0, {}, plain_face(result.shape)});
  return c.add_call(std::move(call), {x}, std::move(result), suffix);
}

ValueId converted(Call& c, ValueId x, DType to, std::string_view suffix) {
  if (!c.ok() || x < 0) return -1;
  if (c.type(x).dtype == to) return x;
  return call_on(c, {"aten::_to_copy", "out"}, x, {truth_argument(false), {}}, {to, c.shape(x), {}},
                 suffix);
}

DType common_type(Call& c, const std::vector<ValueId>& values) {
  for (const DType d : {DType::f32, DType::s64, DType::s32})
    if (std::any_of(values.begin(), values.end(), [&](ValueId v) { return c.type(v).dtype == d; }))
      return d;
  return DType::b8;
}

void make_one_type(Call& c, std::vector<ValueId>& values) {
  if (!c.ok()) return;
  const DType to = common_type(c, values);
  const auto is_integer = [&](ValueId v) {
    const DType d = c.type(v).dtype;
    return d == DType::s64 || d == DType::s32;
  };
  if (!std::all_of(values.begin(), values.end(), is_integer)) return;
  for (ValueId& v : values) v = converted(c, v, to, "wide");
}

bool is_of_integers(Call& c, size_t operand) {
  const Type& type = c.declared(operand);
  return type.quant.empty() && (type.dtype == DType::s32 || type.dtype == DType::s64);
}

void finish_integers(Call& c, KernelName kernel, std::vector<KernelArg> more) {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < c.operands(); ++i) operands.push_back(c.in(i));
  const DType dtype = common_type(c, operands);
  c.result(call_broadcast(c, kernel, std::move(operands), dtype, {}, std::move(more)));
}

void refuse_activation(Call& c, ActivationFunctionType activation) {
  const char* name = EnumNameActivationFunctionType(activation);
  c.require(activation == ActivationFunctionType::NONE,
            "has a fused activation on integers, for which there is no kernel",
            name && *name ? name : std::to_string(static_cast<int>(activation)), "NONE",
            "tflite.operator.activation");
}

ValueId row_numbers(Call& c, ValueId positions, const Shape& of) {
  if (!c.ok()) return -1;
  const Type type = c.type(positions);
  c.require(type.dtype == DType::s32 || type.dtype == DType::s64, "operand 1 is not of integers",
            std::string(name_of(type.dtype)), "INT32, INT64", "tflite.operand.type");
  if (!c.ok()) return -1;
  const auto axes = static_cast<size_t>(type.shape.back());
  std::vector<i64> steps(axes, 1);
  for (size_t k = axes - 1; k-- > 0;) steps[k] = steps[k + 1] * of[k + 1];
  const std::vector<i32> narrow(steps.begin(), steps.end());
  const Type of_steps{type.dtype, {static_cast<i64>(axes)}, {}};
  const ValueId each =
      c.constant("steps_between", of_steps,
                 type.dtype == DType::s64 ? constant_of(steps) : constant_of(narrow));
  Shape one = type.shape, to(type.shape.begin(), type.shape.end() - 1);
  one.back() = 1;
  positions = call_broadcast(c, {"aten::mul", "out"}, {positions, each}, type.dtype, "scaled");
  positions = call_on(
      c, {"aten::sum", "IntList_out"}, positions,
      {integers_argument({static_cast<i64>(type.shape.size()) - 1}), truth_argument(true), {}},
      {type.dtype, one, {}}, "row");
  return c.ok() ? c.reshape(positions, std::move(to), "row_numbers") : -1;
}

ValueId written_at(Call& c, ValueId x, ValueId at, ValueId rows, i64 axis, bool adds) {
  if (!c.ok()) return -1;
  std::vector<i64> indices(static_cast<size_t>(axis), -1);
  indices.push_back(1);
  KernelCall call;
  call.name = "aten::index_put", call.overload = "out";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               {K::inputs, 0, 0, std::move(indices), plain_face(c.shape(at))},
               {K::input, 2, 0, {}, plain_face(c.shape(rows))},
               truth_argument(adds),
               {K::output, 0, 0, {}, plain_face(c.shape(x))}};
  return c.add_call(std::move(call), {x, at, rows}, {c.type(x).dtype, c.shape(x), {}});
}

}  // namespace deuteron::tflite
