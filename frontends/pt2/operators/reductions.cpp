// SPDX-License-Identifier: Apache-2.0
// Means, sums, extremes and variances over some axes.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/operators/along_axis.h"
#include "frontends/pt2/operators/choices.h"
#include "frontends/pt2/operators/image.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "frontends/pt2/operators/leftovers.h"
#include "frontends/pt2/operators/reductions.h"

namespace deuteron::pt2 {

ValueId reduced(Call& c, i64 fn, ValueId x, Axes axes, std::string_view suffix) {
  if (!c.ok() || x < 0) return -1;
  if (axes.empty()) return x;  // of a tensor without axes
  std::sort(axes.begin(), axes.end());
  Reduce op;
  op.fn = fn;
  op.axes = std::move(axes);
  return c.add(std::move(op), {x}, suffix);
}

// (x - mean(x))^2, and x - mean(x)
static ValueId deviation_squared(Call& c, ValueId x, const Axes& axes, ValueId* deviation) {
  Add difference;
  difference.alpha = -1;
  const ValueId mean = reduced(c, Reduce::kMean, x, axes, "mean");
  *deviation = c.add(difference, {x, mean}, "deviation");
  return c.add(Unary{UnaryFn::pow, 2}, {*deviation}, "squared");
}

namespace {

// The axes that `argument` names; all of them when it names none.
Axes reduced_axes(Call& c, std::string_view argument, i64 rank) {
  Axes axes;
  if (c.has(argument)) axes = c.axes(argument, rank);
  if (!axes.empty() || !c.ok()) return axes;
  for (i64 k = 0; k < rank; ++k) axes.push_back(k);
  return axes;
}

bool keeps_axes(Call& c) { return c.has("keepdim") && c.boolean("keepdim"); }

Shape without(const Shape& shape, const Axes& axes) {
  Shape kept;
  for (size_t k = 0; k < shape.size(); ++k)
    if (std::find(axes.begin(), axes.end(), static_cast<i64>(k)) == axes.end())
      kept.push_back(shape[k]);
  return kept;
}

// y has the reduced axes with extent 1.
void finish(Call& c, ValueId x, ValueId y, const Axes& axes) {
  if (c.ok() && !keeps_axes(c)) y = c.reshape(y, without(c.shape(x), axes));
  c.result(y);
}

// The largest or smallest of integers that are computed: a portable kernel finds it exactly.
void finish_extreme_of_integers(Call& c, i64 fn) {
  const ValueId x = c.any_tensor("self");
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  const Axes axes = reduced_axes(c, "dim", c.rank(x));
  c.result(kernel_result(c, fn == Reduce::kMax ? "aten::amax.out" : "aten::amin.out",
                         {x, wholes(axes), truth(keeps_axes(c))},
                         {*declared->dtype, declared->sizes, {}}));
}

void finish_reduce(Call& c, i64 fn) {
  const bool is_extreme = fn == Reduce::kMax || fn == Reduce::kMin;
  const ValueId given = is_extreme ? c.any_tensor("self") : -1;
  if (is_extreme && c.ok() && c.declared_dtype() && c.declared_dtype() == c.type(given).dtype &&
      c.type(given).dtype != DType::f32 && c.type(given).quant.empty() &&
      !c.is_derived_from_constants(given))
    return finish_extreme_of_integers(c, fn);
  const ValueId x = c.tensor("self");
  check_dtype(c);
  const Axes axes = reduced_axes(c, "dim", c.rank(x));
  if (c.ok() && fn == Reduce::kSum && c.type(x).elements() == 0)  // of nothing
    if (const TensorMeta* declared = c.result_meta(0))
      return c.result(
          c.constant("zeros", declared->sizes,
                     std::vector<float>(static_cast<size_t>(numel(declared->sizes)), 0.0f)));
  if (c.ok()) finish(c, x, reduced(c, fn, x, axes, keeps_axes(c) ? "" : "reduced"), axes);
}

// 0 where an element is no number, and which elements are numbers.
struct Numbered {
  ValueId elements = -1, is_number = -1;
};
Numbered numbers_of(Call& c, ValueId x) {
  if (!c.ok()) return {};
  const Shape shape = c.shape(x);
  const ValueId none_at_all = kernel_result(c, "aten::isnan.out", {x}, {DType::b8, shape, {}});
  const ValueId zero = c.constant("zero", {}, {0.0f});
  return {chosen_by_kernel(c, none_at_all, zero, x, {DType::f32, shape, {}}),
          kernel_result(c, "aten::logical_not.out", {none_at_all}, {DType::b8, shape, {}})};
}

// PyTorch's `correction`, or `unbiased`; divides by the number of elements less this. With the
// mean: as the second result.
void finish_variance(Call& c, bool root, bool with_mean = false) {
  const ValueId x = c.tensor("self");
  const Axes axes = reduced_axes(c, "dim", c.rank(x));
  double correction = 1;
  if (c.has("correction")) correction = c.number("correction");
  else if (c.has("unbiased")) correction = c.boolean("unbiased") ? 1 : 0;
  if (!c.ok()) return;
  i64 count = 1;
  for (const i64 axis : axes) count *= c.shape(x)[axis];
  const double rest = static_cast<double>(count) - correction;
  c.require(rest > 0, "the variance of too few elements is not a number", std::to_string(count),
            fmt::format("above {}", correction), "pt2.variance.count");
  ValueId deviation = -1;
  const ValueId squared = deviation_squared(c, x, axes, &deviation);
  ValueId y = reduced(c, Reduce::kMean, squared, axes, "mean_squared");
  if (correction != 0)
    y = c.add(
        Mul{},
        {y, c.constant("correction", {}, {static_cast<float>(static_cast<double>(count) / rest)})},
        "corrected");
  if (root) y = c.add(Unary{UnaryFn::sqrt, 0}, {y}, "root");
  if (with_mean && c.is_read(1)) {
    const ValueId mean = reduced(c, Reduce::kMean, x, axes, "mean");
    const TensorMeta* declared = c.result_meta(1);
    if (c.ok()) c.result(1, c.reshape(mean, declared->sizes, "mean"));
  }
  finish(c, x, y, axes);
}

}  // namespace

void check_dtype(Call& c) {
  if (c.has("dtype"))
    c.require(dtype_of_code(c.integer("dtype")) == DType::f32, "computes in another dtype", "", "",
              "pt2.reduce.dtype");
}

// Over height and width of an image: average pooling. Over anything else a sum with a scale of its
// own.
static void import_mean(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 rank = c.rank(x);
  const Axes axes = reduced_axes(c, "dim", rank);
  check_dtype(c);
  const bool is_image = rank == 4 && !axes.empty() &&
                        std::all_of(axes.begin(), axes.end(), [](i64 a) { return a >= 2; });
  if (!c.ok()) return;
  if (!is_image)
    return finish(c, x, reduced(c, Reduce::kMean, x, axes, keeps_axes(c) ? "" : "reduced"), axes);
  const auto is_reduced = [&](i64 axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  AvgPool2d op;
  op.kernel = op.stride = {is_reduced(2) ? c.shape(x)[2] : 1, is_reduced(3) ? c.shape(x)[3] : 1};
  finish(c, x, from_image(c, c.add(op, {to_image(c, x)}, "out"), rank, keeps_axes(c) ? "" : "mean"),
         axes);
}

static void import_sum(Call& c) { finish_reduce(c, Reduce::kSum); }
static void import_amax(Call& c) { finish_reduce(c, Reduce::kMax); }
static void import_amin(Call& c) { finish_reduce(c, Reduce::kMin); }
static void import_var(Call& c) { finish_variance(c, false); }
static void import_std(Call& c) { finish_variance(c, true); }
static void import_var_mean(Call& c) { finish_variance(c, false, true); }
static void import_std_mean(Call& c) { finish_variance(c, true, true); }

// Both extremes, of all elements or along an axis.
static void import_aminmax(Call& c) {
  const ValueId x = c.tensor("self");
  const Axes axes = reduced_axes(c, "dim", c.rank(x));
  for (const auto& [k, fn] : {std::pair(0, Reduce::kMin), std::pair(1, Reduce::kMax)}) {
    const std::string name = k == 0 ? "least" : "most";
    const TensorMeta* declared = c.result_meta(static_cast<size_t>(k));
    const ValueId y = reduced(c, fn, x, axes, name);
    if (c.ok()) c.result(static_cast<size_t>(k), c.reshape(y, declared->sizes, name + "_result"));
  }
}

// max.dim, min.dim: where nobody reads the positions, an extreme as any other.
static void import_max_along(Call& c) {
  if (c.is_read(1)) return import_leftover(c);
  const ValueId x = c.tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  if (c.ok() && c.rank(x) > 0)
    finish(
        c, x,
        reduced(c, c.operator_name() == "max" ? Reduce::kMax : Reduce::kMin, x, {axis}, "reduced"),
        {axis});
  else if (c.ok()) c.result(x);
}

// x - (max + log(sum(exp(x - max)))): softmax in steps of 1/256 would lose the small ones.
static void import_log_softmax(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  c.require(!c.ok() || c.rank(x) >= 1, "softmax of a tensor without axes", "0", "1",
            "pt2.softmax.rank");
  check_dtype(c);
  if (c.has("half_to_float"))
    c.require(!c.boolean("half_to_float"), "computes in half precision", "", "",
              "pt2.softmax.dtype");
  if (!c.ok()) return;
  Add difference;
  difference.alpha = -1;
  const ValueId most = reduced(c, Reduce::kMax, x, {axis}, "most"),
                below = c.add(difference, {x, most}, "below");
  const ValueId sum =
      reduced(c, Reduce::kSum, c.add(Unary{UnaryFn::exp, 0}, {below}, "exp"), {axis}, "sum");
  c.result(c.add(difference, {below, c.add(Unary{UnaryFn::log, 0}, {sum}, "log")}));
}

// Not any that is not.
static void import_all(Call& c) {
  const ValueId x = c.any_tensor("self");
  const TensorMeta* declared = c.declares_results() ? c.result_meta(0) : nullptr;
  if (!c.ok() || !declared) return;
  const Type answer{DType::b8, declared->sizes, {}};
  const ValueId fails = kernel_result(c, "aten::logical_not.out", {x}, {DType::b8, c.shape(x), {}});
  const ValueId any =
      c.has("dim") ? kernel_result(c, "aten::any.out",
                                   {fails, whole(c.integer("dim")), truth(keeps_axes(c))}, answer)
                   : kernel_result(c, "aten::any.all_out", {fails}, answer);
  c.result(kernel_result(c, "aten::logical_not.out", {any}, answer));
}

// Of the elements that are numbers.
static void import_sum_of_numbers(Call& c) {
  const ValueId x = c.tensor("self");
  check_dtype(c);
  const Axes axes = reduced_axes(c, "dim", c.rank(x));
  const Numbered n = numbers_of(c, x);
  if (!c.ok()) return;
  const ValueId total = reduced(c, Reduce::kSum, n.elements, axes, "total");
  if (c.operator_name() == "nansum") return finish(c, x, total, axes);
  const ValueId count =
      reduced(c, Reduce::kSum, c.converted(n.is_number, DType::f32), axes, "count");
  finish(c, x, c.add(Div{}, {total, count}, "mean"), axes);
}

static constexpr ImportRow kReductionsRows[] = {
    {"aten._log_softmax.default", import_log_softmax},
    {"aten.all.default", import_all},
    {"aten.all.dim", import_all},
    {"aten.amax.default", import_amax},
    {"aten.amin.default", import_amin},
    {"aten.aminmax.default", import_aminmax},
    {"aten.cumsum.default", import_along_axis<Cumsum>, true},
    {"aten.log_softmax.int", import_log_softmax},
    {"aten.max.default", import_amax},
    {"aten.max.dim", import_max_along},
    {"aten.mean.default", import_mean},
    {"aten.mean.dim", import_mean},
    {"aten.min.default", import_amin},
    {"aten.min.dim", import_max_along},
    {"aten.nanmean.default", import_sum_of_numbers},
    {"aten.nansum.default", import_sum_of_numbers},
    {"aten.std.correction", import_std},
    {"aten.std.default", import_std},
    {"aten.std.dim", import_std},
    {"aten.std_mean.correction", import_std_mean},
    {"aten.std_mean.default", import_std_mean},
    {"aten.std_mean.dim", import_std_mean},
    {"aten.sum.default", import_sum},
    {"aten.sum.dim_IntList", import_sum},
    {"aten.var.correction", import_var},
    {"aten.var.default", import_var},
    {"aten.var.dim", import_var},
    {"aten.var_mean.correction", import_var_mean},
    {"aten.var_mean.default", import_var_mean},
    {"aten.var_mean.dim", import_var_mean},
};
ImportRows reductions_rows() { return kReductionsRows; }

}  // namespace deuteron::pt2
