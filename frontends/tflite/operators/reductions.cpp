// SPDX-License-Identifier: Apache-2.0
// Means, sums and extremes over some axes, what holds for all or any of them, positions of
// extremes, and running sums.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"
#include "ops/common/multiplier.h"

namespace deuteron::tflite {
namespace {

// The result in the file's shape, which says whether the axes are kept.
void finish_kept(Call& c, ValueId y) {
  const Shape& to = c.declared_result(0).shape;
  c.require(!c.ok() || numel(to) == c.type(y).elements(),
            "has a result of another shape than the file says: it is damaged", to_text(to),
            to_text(c.shape(y)), "tflite.result.shape");
  if (c.ok()) c.result(c.shape(y) == to ? y : c.reshape(c.rounded(y), to, "reshaped"));
}

Shape reduced(Shape shape, const Axes& axes) {
  for (const i64 axis : axes) shape[axis] = 1;
  return shape;
}

void finish_integer_reduction(Call& c, i64 fn, ValueId x, const Axes& axes) {
  c.require(fn != Reduce::kMean, "is a mean of integers, for which there is no kernel",
            std::string(name_of(c.type(x).dtype)), "FLOAT32, INT8, UINT8", "tflite.operand.type");
  if (!c.ok()) return;
  std::vector<KernelArg> arguments{integers_argument(axes), truth_argument(true)};
  if (fn == Reduce::kSum) arguments.push_back({});
  const KernelName kernel = fn == Reduce::kSum   ? KernelName{"aten::sum", "IntList_out"}
                            : fn == Reduce::kMax ? KernelName{"aten::amax", "out"}
                                                 : KernelName{"aten::amin", "out"};
  finish_kept(c, call_on(c, kernel, x, std::move(arguments),
                         {c.type(x).dtype, reduced(c.shape(x), axes), {}}, "reduced"));
}

// The least of steps, as they stand: the result has the same.
void finish_least_of_int16(Call& c) {
  const Type &x = c.declared(0), &y = c.declared_result(0);
  const ValueId steps = c.steps_value(0);
  const Axes axes = c.axes(1, x.rank());
  c.require(x.quant == y.quant, "takes the least of int16 into another scale", to_text(y),
            to_text(x), "tflite.operator.scale");
  if (!c.ok() || axes.empty()) return c.result(steps);
  const Type least{DType::s16, reduced(x.shape, axes), x.quant};
  const ValueId made = call_on(c, {"aten::amin", "out"}, steps,
                               {integers_argument(axes), truth_argument(true)}, least, "least");
  finish_kept(c, c.add(Dequantize{}, {made}, "least_real"));
}

template <i64 fn>
void import_reduce(Call& c) {
  c.takes(2, 2);
  if (fn == Reduce::kMin && c.declared(0).dtype == DType::s16) return finish_least_of_int16(c);
  const ValueId x = is_of_integers(c) ? c.in(0) : c.real(0);
  const Axes axes = c.axes(1, c.rank(x));
  if (!c.ok()) return;
  if (axes.empty()) return c.result(x);
  if (is_of_integers(c)) return finish_integer_reduction(c, fn, x, axes);
  finish_kept(c, c.add(Reduce{fn, axes}, {x}));
}

// The product of int16 steps, rounded after each: over axes that lie behind the others. TFLite
// spreads the result's scale over all factors.
void finish_product_of_int16(Call& c) {
  const Type &declared = c.declared(0), &y = c.declared_result(0);
  ValueId x = c.real(0);
  const Axes axes = c.axes(1, declared.rank());
  c.require(has_one_scale(declared, DType::s16) && has_one_scale(y, DType::s16),
            "multiplies int16 into another type", to_text(y), "INT16 with one scale",
            "tflite.operator.scale");
  if (!c.ok()) return;
  Axes order;
  for (i64 k = 0; k < declared.rank(); ++k)
    if (!std::binary_search(axes.begin(), axes.end(), k)) order.push_back(k);
  order.insert(order.end(), axes.begin(), axes.end());
  const Shape kept = reduced(declared.shape, axes);
  const i64 outer = numel(kept), slice = declared.elements() / outer;
  const double factor =
      static_cast<double>(declared.quant.scale[0]) /
      std::pow(static_cast<double>(y.quant.scale[0]), 1.0 / static_cast<double>(slice));
  const auto m = checked_multiplier(factor, Ties::away, "tflite.operator.scale");
  if (!m) return c.refuse(m.why);
  c.require(m->shift <= 14, "has a result whose scale is too fine for a product",
            fmt::format("{:g}", factor), "16384", "tflite.operator.scale");
  x = c.permute(x, order, "order");
  x = c.add(Quantize{declared.quant}, {c.reshape(x, {outer, slice}, "factors")}, "factor_steps");
  const ValueId made =
      call_on(c, {"deuteron::prod_16x8", "out"}, x,
              {integer_argument(1), integer_argument(m->value), integer_argument(m->shift)},
              {DType::s16, {outer}, y.quant}, "product");
  finish_kept(c, c.add(Dequantize{}, {made}, "product_real"));
}

// One axis after the other, in integers or in float.
static void import_reduce_prod(Call& c) {
  c.takes(2, 2);
  if (c.declared(0).dtype == DType::s16) return finish_product_of_int16(c);
  ValueId x = is_of_integers(c) ? c.in(0) : c.real(0);
  for (const i64 axis : c.axes(1, c.rank(x))) {
    if (!c.ok()) return;
    x = call_on(c, {"aten::prod", "int_out"}, x, {integer_argument(axis), truth_argument(true), {}},
                {c.type(x).dtype, reduced(c.shape(x), {axis}), {}}, fmt::format("axis{}", axis));
  }
  finish_kept(c, x);
}

// All of them are true where none is false.
template <bool all>
void import_truth(Call& c) {
  c.takes(2, 2);
  ValueId x = c.in(0);
  const Axes axes = c.axes(1, c.rank(x));
  c.require(c.type(x).dtype == DType::b8, "works on what is not a truth value",
            std::string(name_of(c.type(x).dtype)), "BOOL", "tflite.operand.type");
  if (!c.ok()) return;
  if (axes.empty()) return c.result(x);
  if (all) x = call_broadcast(c, {"aten::logical_not", "out"}, {x}, DType::b8, "not");
  if (!c.ok()) return;
  ValueId y =
      call_on(c, {"aten::any", "dims_out"}, x, {integers_argument(axes), truth_argument(true)},
              {DType::b8, reduced(c.shape(x), axes), {}}, "any");
  if (all) y = call_broadcast(c, {"aten::logical_not", "out"}, {y}, DType::b8, "all");
  finish_kept(c, y);
}

void finish_position(Call& c, const char* kernel) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const std::vector<i64> given = c.integers(1);
  c.require(given.size() == 1, "works along more than one axis", std::to_string(given.size()), "1",
            "tflite.operator.axis");
  if (!c.ok()) return;
  const i64 axis = c.axis(given[0], c.rank(x));
  if (!c.ok()) return;
  Shape to = c.shape(x);
  to.erase(to.begin() + axis);
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = kernel, call.overload = "out";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               {K::integer, axis, 0, {}, {}},
               {K::boolean, 0, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(to)}};
  c.result(c.add_call(std::move(call), {x}, {DType::s64, to, {}}));
}

}  // namespace

static void import_arg_max(Call& c) { finish_position(c, "aten::argmax"); }
static void import_arg_min(Call& c) { finish_position(c, "aten::argmin"); }

// The largest along the last axis, the first of equals first, and where they stand.
static void import_top(Call& c) {
  c.takes(2, 2, 2);
  const ValueId x = is_of_integers(c) ? c.in(0) : c.real(0);
  const std::vector<i64> given = c.integers(1);
  c.require(given.size() == 1 && c.ok() && c.rank(x) > 0, "picks from no axis",
            std::to_string(given.size()), "1", "tflite.operator.axis");
  if (!c.ok()) return;
  Shape to = c.shape(x);
  const i64 axis = c.rank(x) - 1, extent = to.back(), count = given[0];
  c.require(count >= 0 && count <= extent, "picks too many elements", std::to_string(count),
            std::to_string(extent), "tflite.operator.count");
  if (!c.ok()) return;
  to.back() = count;
  CallBuilder call("aten::topk", 1, 2);
  call.overload("values").in(0, plain_face(c.shape(x))).integer(count).integer(axis);
  call.boolean(true).boolean(true).out(0, plain_face(to)).out(1, plain_face(to));
  const std::vector<ValueId> found =
      c.add_calls(call.done().call, {x}, {{c.type(x).dtype, to, {}}, {DType::s64, to, {}}});
  for (size_t k = 0; c.ok() && k < found.size(); ++k) c.result(k, found[k]);
}

// Backwards: from the last element to the first. Exclusive: what stood before an element, so the
// first one is 0.
static void import_cumsum(Call& c) {
  const auto* o = c.options<CumsumOptions>();
  c.takes(2, 2);
  const bool integers = is_of_integers(c);
  ValueId x = integers ? c.in(0) : c.real(0);
  const std::vector<i64> given = c.integers(1);
  c.require(given.size() == 1, "works along more than one axis", std::to_string(given.size()), "1",
            "tflite.operator.axis");
  if (!c.ok()) return;
  const i64 axis = c.axis(given[0], c.rank(x));
  if (!c.ok()) return;
  const i64 extent = c.shape(x)[axis];
  if (o->reverse()) x = part(c, x, axis, extent - 1, extent, -1, "backwards");
  ValueId y = integers ? call_on(c, {"aten::cumsum", "out"}, x, {integer_argument(axis), {}},
                                 c.type(x), "sums")
                       : c.add(Cumsum{axis}, {x}, "sums");
  if (o->exclusive() && c.ok()) {
    Pad one{Axes(c.shape(x).size(), 0), Axes(c.shape(x).size(), 0)};
    one.before[axis] = 1;
    y = part(c, c.add(one, {c.rounded(y)}, "behind_zero"), axis, 0, extent, 1, "before");
  }
  if (o->reverse()) y = part(c, y, axis, extent - 1, extent, -1, "forwards");
  c.result(y);
}

static constexpr ImportRow kReductionsRows[] = {
    {BuiltinOperator::ARG_MAX, import_arg_max},
    {BuiltinOperator::ARG_MIN, import_arg_min},
    {BuiltinOperator::CUMSUM, import_cumsum},
    {BuiltinOperator::MEAN, import_reduce<Reduce::kMean>, Int16::taken},
    {BuiltinOperator::REDUCE_ALL, import_truth<true>},
    {BuiltinOperator::REDUCE_ANY, import_truth<false>},
    {BuiltinOperator::REDUCE_MAX, import_reduce<Reduce::kMax>, Int16::taken},
    {BuiltinOperator::REDUCE_MIN, import_reduce<Reduce::kMin>, Int16::taken},
    {BuiltinOperator::REDUCE_PROD, import_reduce_prod, Int16::taken},
    {BuiltinOperator::SUM, import_reduce<Reduce::kSum>, Int16::taken},
    {BuiltinOperator::TOPK_V2, import_top},
};
ImportRows reductions_rows() { return kReductionsRows; }

}  // namespace deuteron::tflite
