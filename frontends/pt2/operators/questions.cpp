// SPDX-License-Identifier: Apache-2.0
// Questions with a yes or no for each element: is it finite, close to another, one of several; and
// how many are not 0.
#include <fmt/format.h>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

ValueId answer(Call& c, std::string_view kernel, std::initializer_list<Passed> operands,
               Shape shape) {
  return kernel_result(c, kernel, operands, {DType::b8, std::move(shape), {}});
}
ValueId negated_answer(Call& c, ValueId v) {
  return answer(c, "aten::logical_not.out", {v}, c.shape(v));
}

}  // namespace

static void import_is_finite(Call& c) {
  const ValueId x = c.tensor("self");
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  const ValueId endless = answer(c, "aten::isinf.out", {x}, shape),
                none_at_all = answer(c, "aten::isnan.out", {x}, shape);
  c.result(negated_answer(c, answer(c, "aten::logical_or.out", {endless, none_at_all}, shape)));
}

// |a - b| <= atol + rtol * |b|
static void import_is_close(Call& c) {
  const double rtol = c.number("rtol"), atol = c.number("atol");
  c.require(!c.has("equal_nan") || !c.boolean("equal_nan"),
            "takes two that are no numbers for equal", "", "", "pt2.isclose.nan");
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  if (!c.ok()) return;
  const ValueId apart = apply(c, UnaryFn::abs, difference(c, a, b, "difference"), "apart");
  const ValueId size = product(c, apply(c, UnaryFn::abs, b, "abs"), number(c, rtol), "share");
  const ValueId limit = sum(c, size, number(c, atol), "limit");
  if (c.ok()) c.result(answer(c, "aten::le.Tensor_out", {apart, limit}, c.shape(apart)));
}

// Whether any of the others equals it: each is compared with each.
static void import_is_in(Call& c) {
  const ValueId x = movable(c, "elements"), among = movable(c, "test_elements");
  if (!c.ok()) return;
  const i64 count = c.type(among).elements();
  c.require(c.type(x).dtype == c.type(among).dtype, "compares elements of different dtypes",
            std::string(name_of(c.type(x).dtype)), std::string(name_of(c.type(among).dtype)),
            "pt2.isin.dtype");
  if (!c.ok() || !c.may_make(c.type(x).elements() * count)) return;
  const Shape shape = c.shape(x);
  Shape column = shape, table = shape;
  column.push_back(1), table.push_back(count);
  const ValueId each = c.reshape(x, column, "column"), others = c.reshape(among, {count}, "row");
  const ValueId equal = answer(c, "aten::eq.Tensor_out", {each, others}, table);
  const ValueId any = answer(c, "aten::any.out",
                             {equal, whole(static_cast<i64>(shape.size())), truth(false)}, shape);
  c.result(c.boolean("invert") ? negated_answer(c, any) : any);
}

static void import_count_nonzero(Call& c) {
  const ValueId x = movable(c, "self");
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  Axes axes;
  if (c.has("dim"))
    axes = c.argument("dim")->kind == Argument::Kind::integers ? c.axes("dim", c.rank(x))
                                                               : Axes{c.axis("dim", c.rank(x))};
  if (!c.ok()) return;
  if (axes.empty())
    for (i64 k = 0; k < c.rank(x); ++k) axes.push_back(k);
  const ValueId other = c.type(x).dtype == DType::b8
                            ? x
                            : answer(c, "aten::ne.Scalar_out", {x, whole(0)}, c.shape(x));
  const Type result{declared->dtype.value_or(DType::s64), declared->sizes, {}};
  c.result(kernel_result(c, "aten::sum.IntList_out",
                         {other, wholes(std::move(axes)), truth(false), none()}, result));
}

static constexpr ImportRow kQuestionsRows[] = {
    {"aten.count_nonzero.default", import_count_nonzero},
    {"aten.count_nonzero.dim_IntList", import_count_nonzero},
    {"aten.isclose.default", import_is_close},
    {"aten.isfinite.default", import_is_finite},
    {"aten.isin.Tensor_Tensor", import_is_in},
};
ImportRows questions_rows() { return kQuestionsRows; }

}  // namespace deuteron::pt2
