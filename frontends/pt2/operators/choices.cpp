// SPDX-License-Identifier: Apache-2.0
// Operators that choose between values by a mask: where, masked_fill, triangles of matrices,
// one-hot codes. With a mask that is known, they are sums and products with constants; with a
// computed one, calls of portable kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/tensor/elements.h"
#include "frontends/pt2/operators/choices.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/integers.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

// What softmax shall make 0 of is minus infinity, however the model spells it.
constexpr double kMost = 1e4;

struct Numbers {
  Shape shape;
  std::vector<float> data;
};

// `x` where the mask is `wanted`, else 0. Nothing where that is 0 everywhere.
std::optional<ValueId> part(Call& c, ValueId x, const Numbers& mask, bool wanted,
                            std::string_view name) {
  const std::string n(name);
  if (const auto known = c.known_numbers(x)) {
    const Numbers given{c.shape(x), *known};
    const std::optional<Shape> shape = broadcast_shape(given.shape, mask.shape);
    c.require(shape.has_value(), "the mask does not fit", to_text(mask.shape), to_text(given.shape),
              "pt2.where.shape");
    if (!c.ok()) return -1;
    const std::vector<float> choice = broadcast_numbers(mask.data, mask.shape, *shape);
    std::vector<float> data = broadcast_numbers(given.data, given.shape, *shape);
    bool zero = true;
    for (size_t k = 0; k < data.size(); ++k) {
      const float value = (choice[k] != 0) == wanted ? data[k] : 0;
      c.require(!(value > kMost), "fills with a value that leaves no int8 step for the others",
                fmt::format("{}", value), "1e4", "pt2.masked_fill.value");
      data[k] = value < -kMost ? kMinusInfinity : value;
      zero = zero && value == 0;
    }
    if (zero && *shape == mask.shape) return std::nullopt;
    return c.constant(n, *shape, std::move(data));
  }
  std::vector<float> keep;
  for (const float m : mask.data) keep.push_back((m != 0) == wanted ? 1.0f : 0.0f);
  return product(c, x, c.constant(n + "_mask", mask.shape, std::move(keep)), n);
}

void choose_by_numbers(Call& c, const Numbers& mask, ValueId yes, ValueId no) {
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  // Whole parts first: what the mask never chooses has no part in the result.
  const auto first = part(c, yes, mask, true, "chosen"), second = part(c, no, mask, false, "other");
  if (!c.ok()) return;
  for (const auto& [one, other] : {std::pair(first, second), std::pair(second, first)})
    if (!other && one && c.shape(*one) == declared->sizes) return c.result(*one);
  if (!first && !second)
    return c.result(
        c.constant("zeros", declared->sizes,
                   std::vector<float>(static_cast<size_t>(numel(declared->sizes)), 0.0f)));
  c.result(sum(c, first ? *first : number(c, 0), second ? *second : number(c, 0)));
}

// What softmax shall make 0 of, as minus infinity.
ValueId with_minus_infinity(Call& c, ValueId x, std::string_view name) {
  const auto known = c.type(x).dtype == DType::f32 ? c.known_numbers(x) : std::nullopt;
  if (!known || std::none_of(known->begin(), known->end(), [](float v) { return v < -kMost; }))
    return x;
  std::vector<float> data = *known;
  std::replace_if(
      data.begin(), data.end(), [](float v) { return v < -kMost; }, kMinusInfinity);
  return c.constant(name, c.shape(x), std::move(data));
}

}  // namespace

// where.self_out(mask, yes, no)
ValueId chosen_by_kernel(Call& c, ValueId mask, ValueId yes, ValueId no, const Type& result) {
  if (!c.ok()) return -1;
  const ValueId chosen = with_minus_infinity(c, yes, "chosen"),
                other = with_minus_infinity(c, no, "other");
  return kernel_result(c, "aten::where.self_out", {mask, chosen, other}, result);
}

namespace {

void choose(Call& c, ValueId mask, ValueId yes, ValueId no) {
  if (!c.ok()) return;
  const std::optional<std::vector<float>> known = c.known_numbers(mask);
  const bool real = c.type(yes).dtype == DType::f32 && c.type(no).dtype == DType::f32;
  if (known && real) choose_by_numbers(c, {c.shape(mask), *known}, yes, no);
  else if (const TensorMeta* declared = c.result_meta(0))
    c.result(chosen_by_kernel(c, mask, yes, no,
                              {declared->dtype.value_or(DType::f32), declared->sizes, {}}));
}

// A tensor of any dtype, or a number, which is of the dtype that the result is declared to have;
// minus infinity is one.
ValueId any_operand(Call& c, std::string_view argument) {
  if (c.is_tensor(argument)) return c.any_tensor(argument);
  const DType dtype = c.declared_dtype().value_or(DType::f32);
  if (dtype != DType::f32) return number_as_tensor(c, argument, dtype);
  const double value = c.number(argument);
  return value == -std::numeric_limits<double>::infinity()
             ? c.constant(argument, {}, {kMinusInfinity})
             : c.operand(argument);
}

}  // namespace

// The tensor forms, and those with a number on either side.
static void import_where(Call& c) {
  const ValueId mask = c.any_tensor("condition");
  c.require(!c.ok() || c.type(mask).dtype == DType::b8, "the condition is not of true and false",
            c.ok() ? std::string(name_of(c.type(mask).dtype)) : "", "bool", "pt2.where.condition");
  const ValueId yes = any_operand(c, "self"), no = any_operand(c, "other");
  choose(c, mask, yes, no);
}

static void import_masked_fill(Call& c) {
  const ValueId x = movable(c, "self"), mask = c.any_tensor("mask");
  c.require(!c.ok() || c.type(mask).dtype == DType::b8, "the mask is not of true and false",
            c.ok() ? std::string(name_of(c.type(mask).dtype)) : "", "bool", "pt2.masked_fill.mask");
  ValueId value = -1;
  const DType dtype = c.type(x).dtype;
  if (c.is_tensor("value")) value = movable(c, "value");
  else if (dtype != DType::f32) value = number_as_tensor(c, "value", dtype);
  else value = c.constant("value", {}, {static_cast<float>(c.number("value"))});
  choose(c, mask, value, x);
}

// The lower or upper triangle of each matrix; the rest is 0.
static void import_triangle(Call& c) {
  const ValueId x = c.any_tensor("self");
  const i64 diagonal = c.integer("diagonal"), rank = c.rank(x);
  const bool lower = c.operator_name() == "tril";
  c.require(!c.ok() || rank >= 2, "works on matrices", std::to_string(rank), "2",
            "pt2.triangle.rank");
  if (!c.ok()) return;
  const Shape shape = c.shape(x), matrix{shape[rank - 2], shape[rank - 1]};
  const auto keeps = [&](i64 at) {
    const i64 row = at / matrix[1] % matrix[0], column = at % matrix[1];
    return lower ? column - row <= diagonal : column - row >= diagonal;
  };
  if (const auto known = c.known_numbers(x)) {
    std::vector<float> data = *known;
    for (size_t k = 0; k < data.size(); ++k)
      if (!keeps(static_cast<i64>(k))) data[k] = 0;
    return c.result(c.known_value(c.type(x), data));
  }
  c.give_up_if_broken(x);
  if (!c.ok()) return;
  std::vector<float> mask;
  for (i64 k = 0; k < numel(matrix); ++k) mask.push_back(keeps(k) ? 1.0f : 0.0f);
  const DType dtype = c.type(x).dtype;
  if (dtype == DType::f32)
    return c.result(product(c, x, c.constant("triangle", matrix, std::move(mask))));
  const ValueId triangle = c.known_value({DType::b8, matrix, {}}, mask);
  choose(c, triangle, x, c.known_value({dtype, {}, {}}, std::vector<float>{0}));
}

// A row of 0 and a 1 for each index: compared with 0, 1, 2, ..
static void import_one_hot(Call& c) {
  const ValueId index = c.any_tensor("self");
  const TensorMeta* declared = c.result_meta(0);
  c.give_up_if_broken(index);
  c.require(!c.ok() || c.type(index).dtype == DType::s64, "codes positions that are not int64", "",
            "s64", "pt2.one_hot.dtype");
  if (!c.ok()) return;
  const Shape out = declared->sizes;
  std::vector<i64> classes;
  for (i64 k = 0; k < out.back(); ++k) classes.push_back(k);
  Shape column = c.shape(index);
  column.push_back(1);
  const ValueId wanted = c.reshape(index, column, "column");
  const ValueId each = c.constant_value(c.name("classes"), {DType::s64, {out.back()}, {}},
                                        constant_of(std::move(classes)));
  const ValueId hits =
      kernel_result(c, "aten::eq.Tensor_out", {wanted, each}, {DType::b8, out, {}});
  c.result(c.converted(hits, DType::s64));
}

static constexpr ImportRow kChoicesRows[] = {
    {"aten.masked_fill.Scalar", import_masked_fill, true},
    {"aten.masked_fill.Tensor", import_masked_fill, true},
    {"aten.one_hot.default", import_one_hot},
    {"aten.tril.default", import_triangle, true},
    {"aten.triu.default", import_triangle, true},
    {"aten.where.Scalar", import_where},
    {"aten.where.ScalarOther", import_where},
    {"aten.where.ScalarSelf", import_where},
    {"aten.where.self", import_where},
};
ImportRows choices_rows() { return kChoicesRows; }

}  // namespace deuteron::pt2
