// SPDX-License-Identifier: Apache-2.0
// Norms of vectors, distances and angles between them, and sums of exponentials.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrix_product.h"
#include "frontends/pt2/operators/reductions.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

Axes all_axes(i64 rank) {
  Axes axes;
  for (i64 k = 0; k < rank; ++k) axes.push_back(k);
  return axes;
}

// The reduced axes are kept with extent 1.
ValueId norm_of(Call& c, ValueId x, double order, const Axes& axes, std::string_view suffix) {
  if (!c.ok()) return -1;
  if (order == kInfinity)
    return reduced(c, Reduce::kMax, apply(c, UnaryFn::abs, x, "abs"), axes, suffix);
  if (order == -kInfinity)
    return reduced(c, Reduce::kMin, apply(c, UnaryFn::abs, x, "abs"), axes, suffix);
  c.require(order > 0, "the order of the norm is not supported", std::to_string(order),
            "above 0, inf, -inf", "pt2.norm.order");
  if (order == 1) return reduced(c, Reduce::kSum, apply(c, UnaryFn::abs, x, "abs"), axes, suffix);
  if (order != 2) {
    const ValueId powers = apply(c, UnaryFn::pow, apply(c, UnaryFn::abs, x, "abs"), "powers",
                                 static_cast<float>(order));
    return apply(c, UnaryFn::pow, reduced(c, Reduce::kSum, powers, axes, "sums"), suffix,
                 static_cast<float>(1 / order));
  }
  const ValueId squares =
      reduced(c, Reduce::kSum, apply(c, UnaryFn::pow, x, "squared", 2), axes, "squares");
  return apply(c, UnaryFn::sqrt, squares, suffix);
}

// y has the reduced axes with extent 1; the model says what it keeps.
void finish(Call& c, ValueId y) {
  const TensorMeta* declared = c.result_meta(0);
  if (c.ok()) c.result(c.reshape(y, declared->sizes));
}

Axes given_axes(Call& c, std::string_view argument, i64 rank) {
  if (!c.has(argument)) return all_axes(rank);
  const Axes axes = c.axes(argument, rank);
  return axes.empty() ? all_axes(rank) : axes;
}

}  // namespace

// linalg_vector_norm, linalg_norm of a vector or of all elements, norm
static void import_vector_norm(Call& c) {
  const ValueId x = c.tensor("self");
  const std::string_view order = c.has("ord") ? "ord" : "p";
  if (c.has(order) && c.argument(order)->kind == Argument::Kind::text)
    c.require(c.text(order) == "fro", "the norm is not supported", c.text(order), "fro",
              "pt2.norm.order");
  const bool numeric = c.has(order) && c.argument(order)->kind != Argument::Kind::text;
  const double p = numeric ? c.number(order) : 2;
  check_dtype(c);
  const i64 rank = c.rank(x);
  const Axes axes = given_axes(c, "dim", rank);
  c.require(!c.ok() || !numeric || c.operator_name() != "linalg_norm" || axes.size() == 1,
            "norms of matrices are not supported", std::to_string(axes.size()), "1 axis",
            "pt2.norm.matrix");
  finish(c, norm_of(c, x, p, axes, "norm"));
}

// The sum of products over one axis, divided by both norms; a norm below eps counts as eps.
static void import_cosine_similarity(Call& c) {
  ValueId a = c.tensor("x1"), b = c.tensor("x2");
  const i64 rank = std::max(c.rank(a), c.rank(b)), axis = c.axis("dim", rank);
  const float eps = static_cast<float>(c.number("eps"));
  if (!c.ok()) return;
  // The axis is one of both together: the length of an operand that repeats along it is that of
  // what is repeated.
  const auto both = broadcast_shape(c.shape(a), c.shape(b));
  c.require(both.has_value(), "its operands do not broadcast", to_text(c.shape(a)),
            to_text(c.shape(b)), "pt2.distance.shape");
  if (!c.ok()) return;
  a = expanded(c, a, *both, "a");
  b = expanded(c, b, *both, "b");
  if (!c.ok()) return;
  const auto unit = [&](ValueId x, std::string_view name) {
    const std::string n(name);
    return quotient(c, x,
                    between(c, norm_of(c, x, 2, {axis}, n + "_norm"), {.low = eps}, n + "_length"),
                    n + "_unit");
  };
  finish(c, reduced(c, Reduce::kSum, product(c, unit(a, "a"), unit(b, "b"), "products"), {axis},
                    "cosine"));
}

// The norm of a - b + eps over the last axis.
static void import_pairwise_distance(Call& c) {
  const ValueId a = c.tensor("x1"), b = c.tensor("x2");
  const double p = c.number("p"), eps = c.number("eps");
  const ValueId apart = sum(c, difference(c, a, b, "difference"), number(c, eps), "apart");
  if (c.ok()) finish(c, norm_of(c, apart, p, {c.rank(apart) - 1}, "distance"));
}

// Distances between every row of x1 and every row of x2.
static void import_cdist(Call& c) {
  ValueId a = c.tensor("x1"), b = c.tensor("x2");
  const double p = c.number("p");
  c.require(!c.ok() || (c.rank(a) >= 2 && c.rank(b) >= 2), "works on rows of matrices", "",
            "rank 2..", "pt2.distance.rank");
  if (!c.ok()) return;
  Shape rows = c.shape(a), columns = c.shape(b);
  rows.insert(rows.end() - 1, 1);
  columns.insert(columns.end() - 2, 1);
  const ValueId apart =
      difference(c, c.reshape(a, rows, "rows"), c.reshape(b, columns, "columns"), "apart");
  if (c.ok()) finish(c, norm_of(c, apart, p, {c.rank(apart) - 1}, "distance"));
}

// The distance of each row from each one behind it, in one row.
static void import_pdist(Call& c) {
  const ValueId x = c.tensor("self");
  const double p = c.number("p");
  c.require(!c.ok() || (c.rank(x) == 2 && c.shape(x)[0] >= 2), "works on rows of a matrix",
            c.ok() ? to_text(c.shape(x)) : "", "2,..", "pt2.distance.rank");
  if (!c.ok()) return;
  const i64 rows = c.shape(x)[0];
  c.require(rows * (rows - 1) / 2 <= kMostPicked, "compares too many rows", std::to_string(rows),
            std::to_string(kMostPicked), "pt2.index.count");
  if (!c.ok()) return;
  Axes first, second;
  for (i64 a = 0; a < rows; ++a)
    for (i64 b = a + 1; b < rows; ++b) first.push_back(a), second.push_back(b);
  const ValueId apart =
      difference(c, picked(c, x, 0, first, "first"), picked(c, x, 0, second, "second"), "apart");
  finish(c, norm_of(c, apart, p, {1}, "distance"));
}

// The norm of the difference of all elements.
static void import_dist(Call& c) {
  const ValueId apart = difference(c, c.tensor("self"), c.tensor("other"), "apart");
  if (c.ok()) finish(c, norm_of(c, apart, c.number("p"), all_axes(c.rank(apart)), "distance"));
}

// Slices along an axis, those whose norm is larger made as long as `maxnorm`; torch adds 1e-7 to
// what it divides by.
static void import_renorm(Call& c) {
  const ValueId x = c.tensor("self");
  const double p = c.number("p"), most = c.number("maxnorm");
  const i64 axis = c.axis("dim", c.rank(x));
  c.require(!c.ok() || (c.rank(x) >= 2 && most >= 0),
            "works on slices of a tensor, with a length of 0 and above", std::to_string(most),
            "0..", "pt2.renorm.length");
  if (!c.ok()) return;
  Axes others = all_axes(c.rank(x));
  others.erase(others.begin() + axis);
  const ValueId length = sum(c, norm_of(c, x, p, others, "norm"), number(c, 1e-7), "length");
  const ValueId factor =
      between(c, quotient(c, number(c, most), length, "share"), {.low = 0, .high = 1}, "factor");
  c.result(product(c, x, factor));
}

// most + log(sum(exp(x - most)))
static void import_logsumexp(Call& c) {
  const ValueId x = c.tensor("self");
  const Axes axes = given_axes(c, "dim", c.rank(x));
  if (!c.ok()) return;
  const ValueId most = reduced(c, Reduce::kMax, x, axes, "most");
  const ValueId total =
      reduced(c, Reduce::kSum, apply(c, UnaryFn::exp, difference(c, x, most, "below"), "exp"), axes,
              "total");
  finish(c, sum(c, most, apply(c, UnaryFn::log, total, "log"), "logsumexp"));
}

// A product of vectors, of a matrix and a vector, of all pairs.
static void import_dot(Call& c) {
  const std::string_view name = c.operator_name();
  const ValueId a = c.tensor("self"), b = c.tensor(name == "mv"     ? "vec"
                                                   : name == "vdot" ? "other"
                                                                    : "tensor");
  c.result(matrix_product(c, a, b, 1));
}

static void import_outer(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("vec2");
  c.require(!c.ok() || (c.rank(a) == 1 && c.rank(b) == 1), "multiplies vectors", "", "rank 1",
            "pt2.matmul.rank");
  if (!c.ok()) return;
  c.result(product(c, c.reshape(a, {c.shape(a)[0], 1}, "column"),
                   c.reshape(b, {1, c.shape(b)[0]}, "row")));
}

// weight = v * g / norm(v): over every axis but `dim`
static void import_weight_norm(Call& c) {
  const ValueId v = c.tensor("v"), g = c.tensor("g");
  const i64 rank = c.rank(v), dim = c.integer("dim");
  Axes axes;
  for (i64 k = 0; k < rank; ++k)
    if (dim == -1 || k != dim) axes.push_back(k);
  const ValueId norm = norm_of(c, v, 2, axes, "norm");
  if (c.ok() && c.result_count() > 1) c.result(1, norm);
  c.result(product(c, v, quotient(c, g, norm, "factor")));
}

static constexpr ImportRow kDistancesRows[] = {
    {"aten._cdist_forward.default", import_cdist},
    {"aten._pdist_forward.default", import_pdist},
    {"aten._weight_norm.default", import_weight_norm},
    {"aten._weight_norm_interface.default", import_weight_norm},
    {"aten.cdist.default", import_cdist},
    {"aten.cosine_similarity.default", import_cosine_similarity},
    {"aten.dist.default", import_dist},
    {"aten.dot.default", import_dot},
    {"aten.linalg_norm.default", import_vector_norm},
    {"aten.linalg_vector_norm.default", import_vector_norm},
    {"aten.logsumexp.default", import_logsumexp},
    {"aten.mv.default", import_dot},
    {"aten.norm.Scalar", import_vector_norm},
    {"aten.norm.ScalarOpt_dim", import_vector_norm},
    {"aten.outer.default", import_outer},
    {"aten.pairwise_distance.default", import_pairwise_distance},
    {"aten.pdist.default", import_pdist},
    {"aten.renorm.default", import_renorm, true},
    {"aten.vdot.default", import_dot},
};
ImportRows distances_rows() { return kDistancesRows; }

}  // namespace deuteron::pt2
