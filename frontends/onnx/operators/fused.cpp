// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime writes into the files that it has optimised: layers with the activation or the
// sum behind them.
#include <fmt/format.h>

#include <numeric>

#include "frontends/onnx/operators/classical.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {
namespace {

std::vector<double> alpha_and_beta(Call& c) {
  std::vector<double> numbers;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (c.has_attribute(name)) numbers.push_back(c.number(name, 0));
  return numbers;
}

// A product whose operands may be transposed, the first axis among the last too (`transBatch`: it
// goes behind the other batch axes).
Operand product_of(Call& c, std::string_view suffix) {
  const auto prepared = [&](size_t k, const char* name, const char* turns, const char* moves) {
    Operand x = c.operand(k);
    const i64 rank = c.rank(x);
    if (c.integer(moves, 0)) {
      c.require(!c.ok() || rank >= 3, "moves a batch axis of a matrix", std::to_string(rank), "3",
                "onnx.matmul.batch");
      x = with_axis_moved(c, x, 0, rank - 2, fmt::format("{}_moved", name));
    }
    if (c.integer(turns, 0) && rank >= 2)
      x = c.torch("aten.transpose.int", {{"self", x}, {"dim0", -2}, {"dim1", -1}}, name);
    return x;
  };
  const Operand a = prepared(0, "a", "transA", "transBatchA"),
                b = prepared(1, "b", "transB", "transBatchB");
  const double alpha = c.number("alpha", 1);
  return scaled(c, multiplied(c, a, b, alpha == 1 ? suffix : "product"), alpha, suffix);
}

}  // namespace

// activation(conv(x) + z)
static void import_fused_conv(Call& c) {
  const std::string name = c.text("activation", "");
  const bool adds = c.has(3);
  Operand y = convolved(c, c.operand(0), c.operand(1), c.has(2) ? c.operand(2) : Operand{},
                        name.empty() && !adds ? "" : "conv");
  if (adds) y = sum(c, y, c.operand(3), name.empty() ? "" : "sum");
  const std::vector<float> given = numbers_listed(c, "activation_params");
  c.result(activated(c, y, name, {given.begin(), given.end()}, ""));
}

static void import_fused_gemm(Call& c) {
  const std::string name = c.text("activation", "");
  const Operand y = gemm(c, c.operand(0), c.operand(1), c.has(2) ? c.operand(2) : Operand{},
                         name.empty() ? "" : "gemm");
  c.result(activated(c, y, name, alpha_and_beta(c), ""));
}

static void import_fused_matmul(Call& c) {
  const std::string name = c.text("activation", "");
  c.result(activated(c, product_of(c, name.empty() ? "" : "matmul"), name, alpha_and_beta(c), ""));
}

// Normalizes the sum of two tensors, and a bias; the fourth result is the sum. The simple form has
// no shift and no mean.
static void import_skip_norm(Call& c) {
  const bool simple = c.op() == "SkipSimplifiedLayerNormalization";
  const size_t bias = simple ? 3 : 4;
  Operand x = sum(c, c.operand(0), c.operand(1), "sum");
  if (c.has(bias)) x = sum(c, x, c.operand(bias), "biased");
  const Shape s = c.shape(x);
  c.require(!c.ok() || !s.empty(), "normalizes a tensor without axes", "0", "1", "onnx.norm.rank");
  c.require(!c.wants(1) && !c.wants(2), "gives its statistics, which is not supported", "", "",
            "onnx.operator.results");
  if (!c.ok()) return;
  Args args{
      {"input", x}, {"normalized_shape", std::vector<i64>{s.back()}}, {"weight", c.operand(2)}};
  if (!simple && c.has(3)) args.emplace_back("bias", c.operand(3));
  args.emplace_back("eps", c.number("epsilon", 1e-12));
  c.result(c.torch(simple ? "aten.rms_norm.default" : "aten.layer_norm.default", std::move(args)));
  if (c.wants(3)) c.result(3, x);
}

static constexpr ImportRow kFusedRows[] = {
    {"FusedConv", import_fused_conv, kMicrosoft},
    {"FusedGemm", import_fused_gemm, kMicrosoft},
    {"FusedMatMul", import_fused_matmul, kMicrosoft},
    {"FusedMatMulActivation", import_fused_matmul, kMicrosoft},
    {"SkipLayerNormalization", import_skip_norm, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", import_skip_norm, kMicrosoft},
};
ImportRows fused_rows() { return kFusedRows; }

}  // namespace deuteron::onnx
