// SPDX-License-Identifier: Apache-2.0
// Arithmetic of computed integers: counters, positions, and what models make of them.
#include "frontends/pt2/operators/integers.h"

#include <cstdint>

#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"

namespace deuteron::pt2 {

bool is_of_integers(Call& c) {
  const auto is_computed = [&](std::string_view name) {
    const ValueId v = c.is_tensor(name) ? c.any_tensor(name) : -1;
    return v >= 0 && !c.is_derived_from_constants(v);
  };
  const std::optional<DType> dtype = c.declared_dtype();
  if (dtype != DType::s64 && dtype != DType::s32) return false;
  return is_computed("self") || is_computed("other");
}

ValueId number_as_tensor(Call& c, std::string_view argument, DType dtype) {
  const Argument* a = c.argument(argument);
  if (c.ok() && a && a->kind == Argument::Kind::integer &&
      (dtype == DType::s64 || dtype == DType::s32)) {
    const i64 v = a->integer;
    c.require(dtype == DType::s64 || (v >= INT32_MIN && v <= INT32_MAX),
              "is a number that the dtype does not have", std::to_string(v), "int32",
              "pt2.argument.range");
    if (!c.ok()) return -1;
    Constant data = dtype == DType::s64 ? constant_of(std::vector<i64>{v})
                                        : constant_of(std::vector<i32>{static_cast<i32>(v)});
    return c.constant_value(c.name(argument), {dtype, {}, {}}, std::move(data));
  }
  return c.known_value({dtype, {}, {}}, std::vector<float>{static_cast<float>(c.number(argument))},
                       argument);
}

ValueId integer_operand(Call& c, std::string_view argument, DType dtype) {
  if (!c.is_tensor(argument)) return number_as_tensor(c, argument, dtype);
  const ValueId v = c.any_tensor(argument);
  return c.ok() && c.type(v).dtype != dtype ? c.converted(v, dtype) : v;
}

void clamp_integers(Call& c) {
  const TensorMeta* declared = c.result_meta(0);
  const ValueId x = c.any_tensor("self");
  const auto bound = [&](std::string_view name) {
    return c.has(name) ? c.argument(name) : nullptr;
  };
  const auto passed = [&](const Argument* a) {
    return a == nullptr                      ? none()
           : a->kind == Argument::Kind::real ? real(a->real)
                                             : whole(a->integer);
  };
  const Argument *low = bound("min"), *high = bound("max");
  if (c.ok())
    c.result(kernel_result(c, "aten::clamp.out", {x, passed(low), passed(high)},
                           {*declared->dtype, declared->sizes, {}}));
}

// Towards zero: the quotient of the sizes, with the product of the signs.
void divide_integers(Call& c, bool towards_zero) {
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  const DType dtype = *declared->dtype;
  const Type result{dtype, declared->sizes, {}};
  const ValueId a = integer_operand(c, "self", dtype), b = integer_operand(c, "other", dtype);
  if (!c.ok()) return;
  if (!towards_zero) return c.result(kernel_result(c, "aten::floor_divide.out", {a, b}, result));
  const auto of_one = [&](std::string_view kernel, ValueId v) {
    return kernel_result(c, kernel, {v}, {dtype, c.shape(v), {}});
  };
  const ValueId size =
      kernel_result(c, "aten::floor_divide.out",
                    {of_one("aten::abs.out", a), of_one("aten::abs.out", b)}, result);
  const ValueId sign = kernel_result(
      c, "aten::mul.out", {of_one("aten::sign.out", a), of_one("aten::sign.out", b)}, result);
  c.result(kernel_result(c, "aten::mul.out", {size, sign}, result));
}

}  // namespace deuteron::pt2
