// SPDX-License-Identifier: Apache-2.0
// Diagonals, blocks and further products of vectors and matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrices.h"
#include "frontends/pt2/operators/matrix_product.h"
#include "frontends/pt2/operators/reductions.h"

namespace deuteron::pt2 {
namespace {

i64 offset_of(Call& c, std::string_view argument) {
  const i64 offset = c.integer(argument);
  c.require(!c.ok() || std::abs(static_cast<double>(offset)) <= static_cast<double>(kMaxElements),
            "the offset is out of range", std::to_string(offset), std::to_string(kMaxElements),
            "pt2.diagonal.offset");
  return c.ok() ? offset : 0;
}

}  // namespace

ValueId flat_matrix(Call& c, ValueId x, const Axes& rows, const Axes& columns,
                    std::string_view suffix) {
  if (!c.ok()) return -1;
  Axes perm = rows;
  perm.insert(perm.end(), columns.begin(), columns.end());
  i64 h = 1, w = 1;
  for (const i64 k : rows) h *= c.shape(x)[k];
  for (const i64 k : columns) w *= c.shape(x)[k];
  return c.reshape(c.permute(x, perm, suffix), {h, w}, suffix);
}

Axes other_axes(i64 rank, const Axes& axes) {
  Axes rest;
  for (i64 k = 0; k < rank; ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) rest.push_back(k);
  return rest;
}

ValueId diagonal_of(Call& c, ValueId x, i64 offset, i64 a, i64 b, std::string_view suffix) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || (rank >= 2 && a != b), "works on matrices", std::to_string(rank), "2",
            "pt2.diagonal.rank");
  if (!c.ok()) return -1;
  Axes perm;
  for (i64 k = 0; k < rank; ++k)
    if (k != a && k != b) perm.push_back(k);
  perm.insert(perm.end(), {a, b});
  const ValueId moved = c.permute(x, perm, "matrices");
  if (!c.ok()) return -1;
  Shape shape = c.shape(moved);
  const i64 h = shape[rank - 2], w = shape[rank - 1], row = std::max<i64>(-offset, 0),
            column = std::max<i64>(offset, 0);
  const i64 count = std::min(h - row, w - column);
  c.require(count >= 1, "the diagonal lies outside the matrix", std::to_string(offset),
            fmt::format("{}..{}", 1 - h, w - 1), "pt2.diagonal.offset");
  if (!c.ok()) return -1;
  shape.pop_back();
  shape.back() = h * w;
  return c.add(Slice{rank - 2, row * w + column, count, count == 1 ? 1 : w + 1},
               {c.reshape(moved, shape, "elements")}, suffix);
}

namespace {

// [..,n] becomes [..,m,m] with these on a diagonal.
ValueId on_diagonal(Call& c, ValueId x, i64 offset, std::string_view suffix) {
  if (!c.ok()) return -1;
  const i64 rank = c.rank(x), n = c.shape(x).back(), m = n + std::abs(offset),
            before = std::max<i64>(-offset, 0);
  c.require(m <= 4096, "makes a matrix of too many elements", std::to_string(m), "4096",
            "pt2.diagonal.offset");
  if (!c.ok()) return -1;
  ValueId y = x;
  if (offset != 0) {
    Pad pad;
    pad.before.assign(static_cast<size_t>(rank), 0), pad.after = pad.before;
    pad.before.back() = before, pad.after.back() = m - n - before;
    y = c.add(std::move(pad), {y}, "padded");
  }
  Shape column = c.shape(x);
  column.back() = m, column.push_back(1);
  std::vector<float> places(static_cast<size_t>(m * m), 0.0f);
  for (i64 k = 0; k < n; ++k)
    places[static_cast<size_t>((k + before) * m + k + before + offset)] = 1;
  return product(c, c.reshape(y, column, "column"), c.constant("places", {m, m}, std::move(places)),
                 suffix);
}

// The shape that the model declares.
void finish_as_declared(Call& c, ValueId y) {
  const TensorMeta* declared = c.result_meta(0);
  if (c.ok()) c.result(c.reshape(y, declared->sizes));
}

// beta * self + alpha * product
void finish_addition(Call& c, ValueId y) {
  const double alpha = c.number("alpha"), beta = c.number("beta");
  const ValueId self = c.tensor("self");
  c.require(!c.ok() || (std::isfinite(static_cast<float>(alpha)) &&
                        std::isfinite(static_cast<float>(beta))),
            "alpha and beta must be finite", fmt::format("{}, {}", alpha, beta), "finite",
            "pt2.argument.finite");
  if (!c.ok()) return;
  if (alpha != 1) y = product(c, y, number(c, alpha), "scaled");
  if (beta == 0) return c.result(y);
  c.result(sum(c, y, self, {}, beta));
}

}  // namespace

static void import_diagonal(Call& c) {
  const std::string_view operand = c.has("A") ? "A" : "self";
  const ValueId x = c.any_tensor(operand);
  const i64 rank = c.rank(x), a = c.axis("dim1", rank), b = c.axis("dim2", rank);
  c.may_share_memory(operand);
  c.result(diagonal_of(c, x, offset_of(c, "offset"), a, b, {}));
}

// Of a vector the matrix, of a matrix the vector.
static void import_diag(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 offset = offset_of(c, "diagonal");
  c.result(c.rank(x) == 1 ? on_diagonal(c, x, offset, {}) : diagonal_of(c, x, offset, 0, 1, {}));
}

static void import_diagflat(Call& c) {
  const ValueId x = c.tensor("self");
  if (c.ok())
    c.result(
        on_diagonal(c, c.reshape(x, {c.type(x).elements()}, "row"), offset_of(c, "offset"), {}));
}

static void import_diag_embed(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 rank = c.rank(x) + 1, a = c.axis("dim1", rank), b = c.axis("dim2", rank);
  require_axes(c, x);
  c.require(!c.ok() || a != b, "needs two axes", std::to_string(a), std::to_string(b),
            "pt2.diagonal.rank");
  const ValueId y = on_diagonal(c, x, offset_of(c, "offset"), "matrices");
  if (!c.ok()) return;
  Axes perm = other_axes(rank, {a, b}), back(static_cast<size_t>(rank));
  perm.insert(perm.end(), {a, b});
  for (size_t k = 0; k < perm.size(); ++k) back[perm[k]] = static_cast<i64>(k);
  c.result(c.permute(y, back));
}

static void import_trace(Call& c) {
  const ValueId x = c.tensor("self");
  finish_as_declared(
      c, reduced(c, Reduce::kSum, diagonal_of(c, x, 0, 0, 1, "diagonal"), {0}, "trace"));
}

// Every element of `self` times the whole of `other`.
static void import_kron(Call& c) {
  ValueId a = c.tensor("self"), b = c.tensor("other");
  if (!c.ok()) return;
  Shape left = c.shape(a), right = c.shape(b), out;
  const size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  Shape split_left, split_right;
  for (size_t k = 0; k < rank; ++k) {
    split_left.insert(split_left.end(), {left[k], 1});
    split_right.insert(split_right.end(), {1, right[k]});
    out.push_back(left[k] * right[k]);
  }
  c.result(c.reshape(
      product(c, c.reshape(a, split_left, "left"), c.reshape(b, split_right, "right"), "product"),
      out));
}

static void import_block_diag(Call& c) {
  std::vector<ValueId> blocks = c.tensors("tensors");
  i64 width = 0, at = 0;
  for (ValueId& block : blocks) {
    c.require(!c.ok() || c.rank(block) <= 2, "takes matrices",
              c.ok() ? std::to_string(c.rank(block)) : "", "rank 2", "pt2.diagonal.rank");
    if (!c.ok()) return;
    Shape matrix = c.shape(block);
    matrix.insert(matrix.begin(), 2 - matrix.size(), 1);
    block = c.reshape(block, matrix, "matrix");
    width += matrix[1];
  }
  for (ValueId& block : blocks) {
    if (!c.ok()) return;
    const i64 own = c.shape(block)[1];
    Pad pad;
    pad.before = {0, at}, pad.after = {0, width - at - own};
    if (own < width) block = c.add(std::move(pad), {block}, "block");
    at += own;
  }
  c.require(!blocks.empty(), "joins nothing", "0", "1", "pt2.concat.operands");
  if (c.ok()) c.result(blocks.size() == 1 ? blocks[0] : c.add(Concat{0}, blocks));
}

static void import_tensordot(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  const Axes of_a = c.axes("dims_self", c.rank(a)), of_b = c.axes("dims_other", c.rank(b));
  if (!c.ok()) return;
  const ValueId left = flat_matrix(c, a, other_axes(c.rank(a), of_a), of_a, "left"),
                right = flat_matrix(c, b, of_b, other_axes(c.rank(b), of_b), "right");
  finish_as_declared(c, matrix_product(c, left, right, 1, "product"));
}

// Sums of products over the last axes of both.
static void import_inner(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  if (!c.ok()) return;
  if (c.rank(a) == 0 || c.rank(b) == 0) return c.result(product(c, a, b));
  const i64 last_a = c.rank(a) - 1, last_b = c.rank(b) - 1;
  const ValueId left = flat_matrix(c, a, other_axes(last_a, {}), {last_a}, "left"),
                right = flat_matrix(c, b, {last_b}, other_axes(last_b, {}), "right");
  finish_as_declared(c, matrix_product(c, left, right, 1, "product"));
}

static void import_vecdot(Call& c) {
  const ValueId y = product(c, c.tensor("x"), c.tensor("y"), "products");
  const i64 axis = c.axis("dim", c.rank(y));
  require_axes(c, y);
  finish_as_declared(c, reduced(c, Reduce::kSum, y, {axis}, "vecdot"));
}

static void import_multi_dot(Call& c) {
  const std::vector<ValueId> matrices = c.tensors(c.has("tensors") ? "tensors" : "matrices");
  c.require(!c.ok() || !matrices.empty(), "multiplies nothing", "0", "1", "pt2.concat.operands");
  if (!c.ok()) return;
  ValueId y = matrices[0];
  for (size_t k = 1; k < matrices.size(); ++k)
    y = matrix_product(c, y, matrices[k], 1, k + 1 == matrices.size() ? "" : "product");
  c.result(y);
}

static void import_matrix_power(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 n = c.integer("n");
  c.require(!c.ok() || (n >= 1 && n <= 64), "the power is not supported", std::to_string(n),
            "1..64", "pt2.matrix.power");
  ValueId y = x;
  for (i64 k = 1; k < n && c.ok(); ++k) y = matrix_product(c, y, x, 1, k + 1 == n ? "" : "power");
  c.result(y);
}

static void import_addr(Call& c) {
  const ValueId a = c.tensor("vec1"), b = c.tensor("vec2");
  c.require(!c.ok() || (c.rank(a) == 1 && c.rank(b) == 1), "multiplies vectors", "", "rank 1",
            "pt2.matmul.rank");
  if (!c.ok()) return;
  finish_addition(c, product(c, c.reshape(a, {c.shape(a)[0], 1}, "column"),
                             c.reshape(b, {1, c.shape(b)[0]}, "row"), "product"));
}

static void import_addmv(Call& c) {
  finish_addition(c, matrix_product(c, c.tensor("mat"), c.tensor("vec"), 1, "product"));
}

// The sum of all products is one product: the series lies along the inner axis.
static void import_addbmm(Call& c) {
  const ValueId a = c.tensor("batch1"), b = c.tensor("batch2");
  c.require(!c.ok() || (c.rank(a) == 3 && c.rank(b) == 3 && c.shape(a)[0] == c.shape(b)[0]),
            "multiplies two series of as many matrices, [b,n,k] x [b,k,m]",
            c.ok() ? to_text(c.shape(a)) : "", c.ok() ? to_text(c.shape(b)) : "",
            "pt2.matmul.batch");
  if (!c.ok()) return;
  finish_addition(c, matrix_product(c, flat_matrix(c, a, {1}, {0, 2}, "left"),
                                    flat_matrix(c, b, {0, 1}, {2}, "right"), 1, "product"));
}

// y[.., o] = sum over i, j of x1[.., i] * weight[o, i, j] * x2[.., j], and the bias
static void import_bilinear(Call& c) {
  const ValueId a = c.tensor("input1"), b = c.tensor("input2"), weight = c.parameter("weight");
  c.require(!c.ok() || (c.rank(weight) == 3 && c.rank(a) >= 1 && c.rank(a) == c.rank(b)),
            "takes a weight [out,in1,in2] and inputs of one rank",
            c.ok() ? to_text(c.shape(weight)) : "", "", "pt2.bilinear.rank");
  if (!c.ok()) return;
  const Shape w = c.shape(weight);
  const ValueId rows =
      c.reshape(c.permute(weight, {0, 2, 1}, "weight"), {w[0] * w[2], w[1]}, "weight");
  Shape split = c.shape(a), column = c.shape(b);
  c.require(split.back() == w[1] && column.back() == w[2], "the inputs do not fit the weight",
            fmt::format("{}, {}", split.back(), column.back()), fmt::format("{}, {}", w[1], w[2]),
            "pt2.matmul.inner");
  if (!c.ok()) return;
  split.back() = w[0], split.push_back(w[2]);
  column.insert(column.end() - 1, 1);
  const ValueId terms = product(c, c.reshape(c.add(Linear{}, {a, rows}, "first"), split, "split"),
                                c.reshape(b, column, "second"), "terms");
  Shape out = split;
  out.pop_back();
  const ValueId y =
      c.reshape(reduced(c, Reduce::kSum, terms, {static_cast<i64>(out.size())}, "sums"), out,
                c.has("bias") ? "summed" : "");
  c.result(c.has("bias") ? sum(c, y, c.parameter("bias")) : y);
}

// Of vectors of three elements along an axis; without one, along the first of three elements.
static void import_cross(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  i64 axis = 0;
  if (!c.ok()) return;
  const Shape s = c.shape(a);
  if (c.has("dim")) axis = c.axis("dim", c.rank(a));
  else axis = std::find(s.begin(), s.end(), 3) - s.begin();
  c.require(
      !c.ok() ||
          (axis < c.rank(a) && s[axis] == 3 && c.rank(b) == c.rank(a) && c.shape(b)[axis] == 3),
      "multiplies vectors that do not have three elements", to_text(s), "3", "pt2.cross.extent");
  if (!c.ok()) return;
  const auto turned = [&](ValueId x, i64 by, std::string_view name) {
    return picked(c, x, axis, {by % 3, (by + 1) % 3, (by + 2) % 3}, name);
  };
  const ValueId first = product(c, turned(a, 1, "a1"), turned(b, 2, "b2"), "first");
  c.result(difference(c, first, product(c, turned(a, 2, "a2"), turned(b, 1, "b1"), "second")));
}

// Frobenius; the largest sum along columns (1) or rows (inf).
static void import_matrix_norm(Call& c) {
  const ValueId x = c.tensor("self");
  const bool is_text = c.argument("ord") && c.argument("ord")->kind == Argument::Kind::text;
  const std::string name = is_text ? c.text("ord") : "";
  const double order = is_text ? 0 : c.number("ord");
  const Axes axes = c.axes("dim", c.rank(x));
  c.require(
      !c.ok() || (axes.size() == 2 &&
                  (is_text ? name == "fro" : std::abs(order) == 1 || std::abs(order) == kInfinity)),
      "the norm is not supported", is_text ? name : std::to_string(order), "fro, 1, -1, inf, -inf",
      "pt2.norm.order");
  if (!c.ok()) return;
  if (is_text) {
    const ValueId squares =
        reduced(c, Reduce::kSum, apply(c, UnaryFn::pow, x, "squared", 2), axes, "squares");
    return finish_as_declared(c, apply(c, UnaryFn::sqrt, squares, "norm"));
  }
  const i64 inner = std::abs(order) == 1 ? axes[0] : axes[1],
            outer = std::abs(order) == 1 ? axes[1] : axes[0];
  const ValueId sums = reduced(c, Reduce::kSum, apply(c, UnaryFn::abs, x, "abs"), {inner}, "sums");
  finish_as_declared(c, reduced(c, order > 0 ? Reduce::kMax : Reduce::kMin, sums, {outer}, "norm"));
}

static constexpr ImportRow kMatricesRows[] = {
    {"aten.addbmm.default", import_addbmm},
    {"aten.addmv.default", import_addmv},
    {"aten.addr.default", import_addr},
    {"aten.bilinear.default", import_bilinear},
    {"aten.block_diag.default", import_block_diag},
    {"aten.chain_matmul.default", import_multi_dot},
    {"aten.cross.default", import_cross},
    {"aten.diag.default", import_diag},
    {"aten.diag_embed.default", import_diag_embed},
    {"aten.diagflat.default", import_diagflat},
    {"aten.diagonal.default", import_diagonal},
    {"aten.diagonal_copy.default", import_diagonal},
    {"aten.inner.default", import_inner},
    {"aten.kron.default", import_kron},
    {"aten.linalg_cross.default", import_cross},
    {"aten.linalg_diagonal.default", import_diagonal},
    {"aten.linalg_matrix_norm.default", import_matrix_norm},
    {"aten.linalg_matrix_norm.str_ord", import_matrix_norm},
    {"aten.linalg_matrix_power.default", import_matrix_power},
    {"aten.linalg_multi_dot.default", import_multi_dot},
    {"aten.linalg_vecdot.default", import_vecdot},
    {"aten.matrix_power.default", import_matrix_power},
    {"aten.tensordot.default", import_tensordot},
    {"aten.trace.default", import_trace},
};
ImportRows matrices_rows() { return kMatricesRows; }

}  // namespace deuteron::pt2
