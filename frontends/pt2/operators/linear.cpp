// SPDX-License-Identifier: Apache-2.0
// Fully connected layers: linear, and matrix products with a parameter on one side. Products of
// computed matrices: matrix_product.cpp.
#include <cmath>

#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrix_product.h"

namespace deuteron::pt2 {
namespace {

// x [..,in] times weight [out,in]; a bias that is no parameter of shape [out] is added afterwards.
ValueId linear(Call& c, ValueId x, ValueId weight, ValueId bias) {
  if (!c.ok()) return -1;
  if (c.rank(weight) != 2) {
    c.refuse({"the weight of a fully connected layer has two axes", std::to_string(c.rank(weight)),
              "2", "pt2.linear.rank"});
    return -1;
  }
  const bool parameters = c.is_derived_from_constants(weight);
  const i64 outputs = c.shape(weight)[0];
  // addmm takes a bias [1, outputs] as well.
  if (parameters && bias >= 0 && c.is_derived_from_constants(bias) && c.rank(bias) == 2 &&
      c.shape(bias) == Shape{1, outputs})
    bias = c.reshape(bias, {outputs}, "bias");
  const bool whole = bias < 0 || (parameters && c.is_derived_from_constants(bias) &&
                                  c.shape(bias) == Shape{outputs});
  const std::string_view suffix = whole ? "" : "product";
  const ValueId y = !parameters
                        ? matrix_product(c, x, c.permute(weight, {1, 0}, "weight"), 1, suffix)
                    : whole && bias >= 0 ? c.add(Linear{}, {x, weight, bias})
                                         : c.add(Linear{}, {x, weight}, suffix);
  return whole ? y : c.add(Add{}, {y, bias});
}

ValueId transposed(Call& c, ValueId matrix, std::string_view suffix) {
  c.require(!c.ok() || c.rank(matrix) == 2, "multiplies matrices",
            "rank " + std::to_string(c.rank(matrix)), "2", "pt2.linear.rank");
  return c.permute(matrix, {1, 0}, suffix);
}

// a [n,k] times b [k,m]. With a parameter on the left: (b' a')'.
ValueId product(Call& c, ValueId a, ValueId b, float scale, ValueId bias) {
  if (!c.ok()) return -1;
  if (c.rank(a) != 2 || c.rank(b) != 2) {
    c.refuse({"multiplies matrices", to_text(c.shape(a)) + " x " + to_text(c.shape(b)),
              "[n,k] x [k,m]", "pt2.linear.rank"});
    return -1;
  }
  if (scale == 1 && c.is_derived_from_constants(b) && c.shape(a)[1] == c.shape(b)[0])
    return linear(c, a, transposed(c, b, "weight"), bias);
  const ValueId y = matrix_product(c, a, b, scale, bias < 0 ? "" : "product");
  return bias < 0 ? y : c.add(Add{}, {y, bias});
}

// `beta` times the tensor that is added; nothing to add with 0.
ValueId scaled_bias(Call& c, ValueId bias, double beta) {
  if (!c.ok() || beta == 1) return bias;
  return beta == 0
             ? -1
             : c.add(Mul{}, {bias, c.constant("beta", {}, {static_cast<float>(beta)})}, "scaled");
}

// The two factors of addmm and baddbmm.
struct Factors {
  double alpha, beta;
};
Factors read_factors(Call& c) {
  const Factors f{c.number("alpha"), c.number("beta")};
  c.require(!c.ok() || (std::isfinite(static_cast<float>(f.beta)) && f.alpha > 0 &&
                        std::isfinite(static_cast<float>(f.alpha))),
            "alpha must be positive, alpha and beta finite",
            std::to_string(f.alpha) + ", " + std::to_string(f.beta), "0 < alpha",
            "pt2.linear.alpha");
  return f;
}

}  // namespace

static void import_linear(Call& c) {
  const ValueId x = c.tensor("input"), weight = c.tensor("weight");
  const ValueId bias = c.has("bias") ? c.tensor("bias") : -1;
  c.result(linear(c, x, weight, bias));
}

static void import_addmm(Call& c) {
  const Factors f = read_factors(c);
  const ValueId bias = c.tensor("self"), a = c.tensor("mat1"), b = c.tensor("mat2");
  c.result(product(c, a, b, static_cast<float>(f.alpha), scaled_bias(c, bias, f.beta)));
}

static void import_mm(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("mat2");
  c.result(product(c, a, b, 1, -1));
}

static void require_series(Call& c, ValueId a, ValueId b) {
  c.require(!c.ok() || (c.rank(a) == 3 && c.rank(b) == 3 && c.shape(a)[0] == c.shape(b)[0]),
            "multiplies two series of as many matrices, [b,n,k] x [b,k,m]",
            c.ok() ? to_text(c.shape(a)) : "", c.ok() ? to_text(c.shape(b)) : "",
            "pt2.matmul.batch");
}

static void import_bmm(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("mat2");
  require_series(c, a, b);
  c.result(matrix_product(c, a, b, 1));
}

static void import_baddbmm(Call& c) {
  const Factors f = read_factors(c);
  const ValueId self = c.tensor("self"), a = c.tensor("batch1"), b = c.tensor("batch2");
  require_series(c, a, b);
  const ValueId bias = scaled_bias(c, self, f.beta);
  const ValueId y = matrix_product(c, a, b, static_cast<float>(f.alpha), bias < 0 ? "" : "product");
  c.result(bias < 0 ? y : c.add(Add{}, {y, bias}));
}

static void import_matmul(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  c.result(matrix_product(c, a, b, 1));
}

static constexpr ImportRow kLinearRows[] = {
    {"aten.addmm.default", import_addmm},   {"aten.baddbmm.default", import_baddbmm},
    {"aten.bmm.default", import_bmm},       {"aten.linear.default", import_linear},
    {"aten.matmul.default", import_matmul}, {"aten.mm.default", import_mm},
};
ImportRows linear_rows() { return kLinearRows; }

}  // namespace deuteron::pt2
