// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include <fmt/format.h>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {

Operand multiplied(Call& c, const Operand& a, const Operand& b, std::string_view suffix) {
  return c.torch("aten.matmul.default", {{"self", a}, {"other", b}}, suffix);
}

Operand fully_connected(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                        std::string_view suffix) {
  Args args{{"input", x}, {"weight", weight}};
  if (bias) args.emplace_back("bias", bias);
  return c.torch("aten.linear.default", std::move(args), suffix);
}

static Operand transposed(Call& c, const Operand& x, std::string_view suffix) {
  return c.torch("aten.t.default", {{"self", x}}, suffix);
}

// alpha * a' b' + beta * c; with a weight that is known it is a fully connected layer.
Operand gemm(Call& c, Operand a, Operand b, const Operand& bias, std::string_view suffix) {
  const double alpha = c.number("alpha", 1), beta = c.number("beta", 1);
  c.require(!c.ok() || (c.rank(a) == 2 && c.rank(b) == 2), "multiplies matrices",
            c.ok() ? to_text(c.shape(a)) : "", c.ok() ? to_text(c.shape(b)) : "", "onnx.gemm.rank");
  if (c.integer("transA", 0)) a = transposed(c, a, "a");
  const bool by_rows = c.integer("transB", 0) != 0;  // as torch keeps its weights
  if (!c.ok()) return {};
  const bool has_bias = bias && beta != 0;
  Operand added = has_bias ? scaled(c, bias, beta, "bias") : Operand{};
  Shape flat = c.shape(added);
  while (flat.size() > 1 && flat[0] == 1) flat.erase(flat.begin());  // [1,n] is a bias, too
  if (has_bias && flat != c.shape(added)) added = view(c, added, flat, "bias_row");
  if (alpha == 1 && c.is_known(b))
    return fully_connected(c, a, by_rows ? b : transposed(c, b, "weight"), added, suffix);
  if (by_rows) b = transposed(c, b, "b");
  const Operand y = scaled(c,
                           c.torch("aten.mm.default", {{"self", a}, {"mat2", b}},
                                   has_bias || alpha != 1 ? "product" : suffix),
                           alpha, has_bias ? "scaled" : suffix);
  return has_bias ? sum(c, y, added, suffix) : y;
}

static void import_matmul(Call& c) { c.result(multiplied(c, c.operand(0), c.operand(1), "")); }

static void import_gemm(Call& c) {
  c.result(gemm(c, c.operand(0), c.operand(1), c.has(2) ? c.operand(2) : Operand{}, ""));
}

static void import_einsum(Call& c) {
  c.need_attribute("equation");
  c.result(c.torch("aten.einsum.default",
                   {{"equation", c.text("equation", "")}, {"tensors", c.all_operands()}}));
}

static constexpr ImportRow kLinearRows[] = {
    {"Einsum", import_einsum},
    {"Gemm", import_gemm},
    {"MatMul", import_matmul},
};
ImportRows linear_rows() { return kLinearRows; }

}  // namespace deuteron::onnx
