// SPDX-License-Identifier: Apache-2.0
// Products of complex matrices: beamformers, transforms by a matrix.
#include <algorithm>
#include <array>
#include <utility>

#include "frontends/pt2/operators/complex_products.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/einsum.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrices.h"

namespace deuteron::pt2 {
namespace {

using Complex = Call::Complex;

// Some operators have a row here alone, and real operands as well.
void finish_complex(Call& c, Complex y) {
  if (!c.touches_complex()) return c.result(y.re);
  c.complex_result(0, with_imaginary_part(c, y));
}

Complex conjugate_of(Call& c, Complex z) {
  return z.im < 0 || !c.ok() ? z : Complex{z.re, apply(c, UnaryFn::neg, z.im, "conjugate")};
}

Complex with_swapped_axes(Call& c, Complex z) {
  if (!c.ok()) return z;
  const i64 rank = c.rank(z.re);
  c.require(rank >= 2, "swaps the last two axes of a tensor that has fewer", std::to_string(rank),
            "2", "pt2.permute.rank");
  if (!c.ok()) return z;
  Axes perm;
  for (i64 k = 0; k < rank; ++k) perm.push_back(k);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return each_part(z, [&](ValueId v) { return c.permute(v, perm, "transposed"); });
}

// What the operators call their second operand.
std::string_view second_operand(std::string_view name) {
  return name == "mm" || name == "bmm" ? "mat2"
         : name == "mv"                ? "vec"
         : name == "dot"               ? "tensor"
                                       : "other";
}

// factor * y + beta * bias
Complex with_bias(Call& c, Complex y, double factor, Complex bias, double beta) {
  const auto scaled = [&](Complex z, double by) {
    return by == 1
               ? z
               : each_part(z, [&](ValueId v) { return product(c, v, number(c, by), "scaled"); });
  };
  y = with_imaginary_part(c, scaled(y, factor));
  if (beta == 0) return y;
  bias = scaled(bias, beta);
  return {sum(c, y.re, bias.re, "real_part"),
          bias.im < 0 ? y.im : sum(c, y.im, bias.im, "imaginary_part")};
}

}  // namespace

// vdot takes the conjugate of its first operand.
static void import_complex_matmul(Call& c) {
  const std::string_view name = c.operator_name();
  const Complex a = c.complex_tensor("self", true),
                b = c.complex_tensor(second_operand(name), true);
  finish_complex(c, complex_matrix_product(c, name == "vdot" ? conjugate_of(c, a) : a, b));
}

static void import_complex_linear(Call& c) {
  const Complex x = c.complex_tensor("input", true), weight = c.complex_tensor("weight", true);
  const Complex bias = c.has("bias") ? c.complex_tensor("bias", true) : Complex{};
  const Complex y = complex_matrix_product(c, x, with_swapped_axes(c, weight));
  if (bias.re < 0) return finish_complex(c, y);
  finish_complex(c, with_bias(c, y, 1, bias, 1));
}

static void import_complex_addmm(Call& c) {
  const bool series = c.operator_name() == "baddbmm";
  const Complex bias = c.complex_tensor("self", true);
  const Complex a = c.complex_tensor(series ? "batch1" : "mat1", true),
                b = c.complex_tensor(series ? "batch2" : "mat2", true);
  const double alpha = c.number("alpha"), beta = c.number("beta");
  finish_complex(c, with_bias(c, complex_matrix_product(c, a, b), alpha, bias, beta));
}

// A column by a row.
static void import_complex_outer(Call& c) {
  const Complex a = c.complex_tensor("self", true), b = c.complex_tensor("vec2", true);
  c.require(!c.ok() || (c.rank(a.re) == 1 && c.rank(b.re) == 1), "multiplies vectors", "", "rank 1",
            "pt2.matmul.rank");
  if (!c.ok()) return;
  const i64 extent = c.shape(a.re)[0];
  finish_complex(c, complex_product(c,
                                    each_part(a,
                                              [&](ValueId v) {
                                                return c.reshape(v, {extent, 1}, "column");
                                              }),
                                    b));
}

// mH, adjoint, matrix_H: transposed and conjugated.
static void import_adjoint(Call& c) {
  finish_complex(c, conjugate_of(c, with_swapped_axes(c, c.complex_tensor("self", true))));
}

static void import_complex_tensordot(Call& c) {
  const Complex a = c.complex_tensor("self", true), b = c.complex_tensor("other", true);
  const Axes of_a = c.axes("dims_self", c.rank(a.re)), of_b = c.axes("dims_other", c.rank(b.re));
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  const Axes rows = other_axes(c.rank(a.re), of_a), columns = other_axes(c.rank(b.re), of_b);
  const Shape shape = declared->sizes;
  const Complex y = complex_matrix_product(
      c, each_part(a, [&](ValueId v) { return flat_matrix(c, v, rows, of_a, "left"); }),
      each_part(b, [&](ValueId v) { return flat_matrix(c, v, of_b, columns, "right"); }));
  finish_complex(c, each_part(y, [&](ValueId v) { return c.reshape(v, shape, "product"); }));
}

static void import_complex_einsum(Call& c) {
  const std::vector<Complex> operands = c.complex_tensors("tensors");
  finish_complex(c, einsum(c, operands));
}

// A row a line, as make_schemas.py reads them.
// clang-format off
static constexpr ImportRow kComplexMatricesRows[] = {
    {"aten.addmm.default", import_complex_addmm},
    {"aten.adjoint.default", import_adjoint},
    {"aten.baddbmm.default", import_complex_addmm},
    {"aten.bmm.default", import_complex_matmul},
    {"aten.dot.default", import_complex_matmul},
    {"aten.einsum.default", import_complex_einsum},
    {"aten.linear.default", import_complex_linear},
    {"aten.mH.default", import_adjoint},
    {"aten.matmul.default", import_complex_matmul},
    {"aten.matrix_H.default", import_adjoint},
    {"aten.mm.default", import_complex_matmul},
    {"aten.mv.default", import_complex_matmul},
    {"aten.outer.default", import_complex_outer},
    {"aten.tensordot.default", import_complex_tensordot},
    {"aten.vdot.default", import_complex_matmul},
};
// clang-format on
ImportRows complex_matrices_rows() { return kComplexMatricesRows; }

}  // namespace deuteron::pt2
