// SPDX-License-Identifier: Apache-2.0
// Operators on steps: written out as dequantize, the operator on real numbers, quantize, which the
// compiler computes on steps again.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/steps.h"

namespace deuteron::onnx {
namespace {

// Operand `k`, whose scale and zero point follow it.
Operand real(Call& c, size_t k, std::string_view name, i64 axis = 0) {
  const Operand q = c.operand(k);
  return dequantized(c, q, read_steps(c, k + 1, k + 2, c.steps_dtype(q)), axis, name);
}

void finish_steps(Call& c, const Operand& y, size_t scale, size_t zero) {
  c.result(quantized(c, y, read_steps(c, scale, zero), 0, ""));
}

// Integers in steps of the product of both scales.
Operand real_bias(Call& c, size_t k, size_t x_scale, size_t w_scale) {
  if (!c.has(k)) return {};
  const Operand bias = c.operand(k);
  const Steps x = read_steps(c, x_scale, c.operands()), w = read_steps(c, w_scale, c.operands());
  Steps s{{}, std::vector<i64>(w.scale.size(), 0), DType::s32};
  for (const float scale : w.scale) s.scale.push_back(scale * (x.scale.empty() ? 1 : x.scale[0]));
  return dequantized(c, bias, s, 0, "bias");
}

}  // namespace

static void import_qlinear_conv(Call& c) {
  const bool last = has_channels_last(c);
  const Operand given = real(c, 0, "x"), weight = real(c, 3, "weight"),
                bias = real_bias(c, 8, 1, 4);
  const Operand y = convolved(c, last ? with_channels_moved(c, given, true, "first") : given,
                              weight, bias, last ? "conv" : "real");
  finish_steps(c, last ? with_channels_moved(c, y, false, "real") : y, 6, 7);
}

// Weights with a scale for each column.
static void import_qlinear_matmul(Call& c) {
  const i64 columns = c.rank(c.operand(3)) - 1;
  const Operand a = real(c, 0, "a"), b = real(c, 3, "b", columns);
  finish_steps(c, multiplied(c, a, b, "real"), 6, 7);
}

static void import_qgemm(Call& c) {
  const bool by_rows = c.integer("transB", 0) != 0;
  const Operand a = real(c, 0, "a"), b = real(c, 3, "b", by_rows ? 0 : 1),
                bias = real_bias(c, 6, 1, 4);
  const Operand y = gemm(c, a, b, bias, c.has(7) ? "real" : "");
  if (c.has(7)) finish_steps(c, y, 7, 8);
  else c.result(y);
}

static void import_qlinear_binary(Call& c) {
  const Operand a = real(c, 0, "a"), b = real(c, 3, "b");
  finish_steps(c, c.op() == "QLinearMul" ? product(c, a, b, "real") : sum(c, a, b, "real"), 6, 7);
}

static void import_qlinear_concat(Call& c) {
  std::vector<Operand> parts;
  for (size_t k = 2; k + 1 < c.operands(); k += 3)
    parts.push_back(real(c, k, fmt::format("part{}", k / 3)));
  c.require(!c.ok() || !parts.empty(), "joins nothing", "0", "1", "onnx.operand.missing");
  if (!c.ok()) return;
  const i64 axis = c.axis(c.integer("axis", 0), c.rank(parts[0]));
  finish_steps(c, joined(c, parts, axis, "real"), 0, 1);
}

static void import_qlinear_function(Call& c) {
  const Operand x = real(c, 0, "x");
  Operand y;
  if (c.op() == "QLinearSigmoid") y = c.torch("aten.sigmoid.default", {{"self", x}}, "real");
  else if (c.op() == "QLinearSoftmax")
    y = c.torch("aten.softmax.int",
                {{"self", x}, {"dim", c.axis(c.integer("axis", -1), c.rank(x))}}, "real");
  else y = leaky_relu(c, x, "real");
  finish_steps(c, y, 3, 4);
}

static void import_qlinear_pool(Call& c) {
  const bool last = has_channels_last(c);
  Operand x = real(c, 0, "x");
  if (last) x = with_channels_moved(c, x, true, "first");
  const char* name = last ? "pool" : "real";
  const Operand y = c.op() == "QLinearAveragePool" ? pooled_average(c, x, name)
                                                   : pooled_globally(c, x, "aten.mean.dim", name);
  finish_steps(c, last ? with_channels_moved(c, y, false, "real") : y, 3, 4);
}

// The ranges of dynamically quantized values are found as the model runs, in float. It stands for
// this model without that rounding: the values themselves, in steps of 1.
static void import_dynamic_quantize(Call& c) {
  c.state().note(
      "quantizes values by ranges that it finds as it runs: they are taken as they are, and "
      "quantized as those of a float model",
      "onnx.quantize.dynamic");
  c.result(0, c.operand(0));
  if (c.wants(1)) c.result(1, c.numbers("scale", {}, {1.0f}));
  if (c.wants(2)) c.result(2, c.known("zero_point", {DType::u8, {}, {}}, std::vector<i64>{0}));
  for (size_t k = 0; k < c.results(); ++k) c.stands_in(k, k == 1 ? StandIn::scale : StandIn::steps);
}

// A weight of integers less its zero points, as numbers.
static Operand centered(Call& c, size_t k, size_t zero, i64 axis) {
  const Operand weight = c.operand(k);
  const auto known = c.known_integers(weight);
  if (!known || !c.has(zero))
    return known && c.ok() ? c.numbers("weight", c.shape(weight), {known->begin(), known->end()})
                           : weight;
  const std::vector<i64> zeros = c.integers_of(zero, "zero points");
  const Shape shape = c.shape(weight);
  const size_t count = zeros.size();
  c.require(!c.ok() || count == 1 ||
                (axis >= 0 && axis < static_cast<i64>(shape.size()) &&
                 shape[axis] == static_cast<i64>(count)),
            "has zero points that do not fit the weight", std::to_string(count), to_text(shape),
            "onnx.quantize.channels");
  if (!c.ok() || count == 0) return {};
  i64 inner = 1;
  for (size_t at = static_cast<size_t>(axis) + 1; at < shape.size(); ++at) inner *= shape[at];
  std::vector<float> data;
  for (size_t at = 0; at < known->size(); ++at)
    data.push_back(static_cast<float>(
        (*known)[at] -
        zeros[count == 1 ? 0 : static_cast<size_t>(static_cast<i64>(at) / inner) % count]));
  return c.numbers("weight", shape, std::move(data));
}

static Operand without_steps(Call& c, size_t k, size_t zero) {
  const Operand x = c.operand(k);
  c.require(!c.ok() || c.dtype(x) == DType::f32,
            "multiplies steps that have their scale elsewhere, which is not supported",
            std::string(name_of(c.dtype(x))), "f32, of DynamicQuantizeLinear",
            "onnx.quantize.integers");
  if (c.has(zero))
    c.require(c.number_of(zero, "zero point", 0) == 0,
              "takes a zero point from values that have none", "", "", "onnx.quantize.zero_point");
  return x;
}

static void import_conv_integer(Call& c) {
  const Operand x = without_steps(c, 0, 2);
  c.result(convolved(c, x, centered(c, 1, 3, 0), {}, ""));
}

static void import_matmul_integer(Call& c) {
  const Operand x = without_steps(c, 0, 2);
  c.result(multiplied(c, x, centered(c, 1, 3, c.rank(c.operand(1)) - 1), ""));
}

static constexpr ImportRow kIntegerLayersRows[] = {
    {"ConvInteger", import_conv_integer, {}, false, StandIn::steps},
    {"DynamicQuantizeLinear", import_dynamic_quantize},
    {"MatMulInteger", import_matmul_integer, {}, false, StandIn::steps},
    {"QLinearConv", import_qlinear_conv},
    {"QLinearMatMul", import_qlinear_matmul},
    {"QGemm", import_qgemm, kMicrosoft},
    {"QLinearAdd", import_qlinear_binary, kMicrosoft},
    {"QLinearAveragePool", import_qlinear_pool, kMicrosoft},
    {"QLinearConcat", import_qlinear_concat, kMicrosoft},
    {"QLinearConv", import_qlinear_conv, kMicrosoft},
    {"QLinearGlobalAveragePool", import_qlinear_pool, kMicrosoft},
    {"QLinearLeakyRelu", import_qlinear_function, kMicrosoft},
    {"QLinearMul", import_qlinear_binary, kMicrosoft},
    {"QLinearSigmoid", import_qlinear_function, kMicrosoft},
    {"QLinearSoftmax", import_qlinear_function, kMicrosoft},
};
ImportRows integer_layers_rows() { return kIntegerLayersRows; }

}  // namespace deuteron::onnx
