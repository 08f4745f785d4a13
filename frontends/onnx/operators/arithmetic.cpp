// SPDX-License-Identifier: Apache-2.0
// Operators on two or more tensors, element by element: arithmetic, comparisons, logic.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

constexpr Spelling kOperations[] = {
    {"Add", "aten.add.Tensor"},
    {"And", "aten.logical_and.default"},
    {"BitwiseAnd", "aten.bitwise_and.Tensor"},
    {"BitwiseNot", "aten.bitwise_not.default"},
    {"BitwiseOr", "aten.bitwise_or.Tensor"},
    {"BitwiseXor", "aten.bitwise_xor.Tensor"},
    {"Div", "aten.div.Tensor"},
    {"Equal", "aten.eq.Tensor"},
    {"Greater", "aten.gt.Tensor"},
    {"GreaterOrEqual", "aten.ge.Tensor"},
    {"IsInf", "aten.isinf.default"},
    {"IsNaN", "aten.isnan.default"},
    {"Less", "aten.lt.Tensor"},
    {"LessOrEqual", "aten.le.Tensor"},
    {"Max", "aten.maximum.default"},
    {"Min", "aten.minimum.default"},
    {"Mul", "aten.mul.Tensor"},
    {"Not", "aten.logical_not.default"},
    {"Or", "aten.logical_or.default"},
    {"Sub", "aten.sub.Tensor"},
    {"Xor", "aten.logical_xor.default"},
};
// An exporter that mixes them means a Cast, and nobody knows of which.
void require_one_dtype(Call& c, const Operand& a, const Operand& b) {
  if (!c.ok()) return;
  const DType x = c.dtype(a), y = c.dtype(b);
  c.require((x == DType::f32) == (y == DType::f32), "has operands of two types",
            fmt::format("{} and {}", name_of(x), name_of(y)), "one, by Cast",
            "onnx.operand.dtypes");
}

// Of the dtype of its operands: what is no float and not known stays with what torch's import says
// of it.
Operand apply(Call& c, std::string_view target, const Operand& a, const Operand& b,
              std::string_view suffix) {
  require_one_dtype(c, a, b);
  return c.torch_as(target, {{"self", a}, {"other", b}}, c.dtype(a),
                    broadcast(c, c.shape(a), c.shape(b)), suffix);
}

void finish_truth(Call& c, const Operand& a, const Operand& b) {
  require_one_dtype(c, a, b);
  c.result(c.torch_as(target_of(kOperations, c.op()), {{"self", a}, {"other", b}}, DType::b8,
                      broadcast(c, c.shape(a), c.shape(b))));
}

// Any number of operands, one after the other.
Operand combined(Call& c, std::string_view target, bool is_last) {
  const std::vector<Operand> all = c.all_operands();
  c.require(!c.ok() || !all.empty(), "has no operands", "0", "1", "onnx.operand.missing");
  if (!c.ok()) return {};
  Operand y = all[0];
  for (size_t k = 1; k < all.size(); ++k)
    y = apply(c, target, y, all[k], is_last && k + 1 == all.size() ? "" : fmt::format("part{}", k));
  return y;
}

}  // namespace

static void import_two(Call& c) {
  c.result(apply(c, target_of(kOperations, c.op()), c.operand(0), c.operand(1), ""));
}
static void import_several(Call& c) { c.result(combined(c, target_of(kOperations, c.op()), true)); }
static void import_sum(Call& c) { c.result(combined(c, "aten.add.Tensor", true)); }
static void import_mean(Call& c) {
  const Operand total = combined(c, "aten.add.Tensor", false);
  c.result(scaled(c, total, 1.0 / static_cast<double>(std::max<size_t>(c.operands(), 1)), ""));
}
static void import_comparison(Call& c) { finish_truth(c, c.operand(0), c.operand(1)); }

static void import_one(Call& c) {
  const Operand x = c.operand(0);
  const bool keeps = c.op() == "BitwiseNot";
  const bool positive = c.integer("detect_positive", 1) != 0,
             negative = c.integer("detect_negative", 1) != 0;
  c.require(positive || negative, "looks for infinities of no sign", "none", "one, both",
            "onnx.is_inf.sign");
  if (!positive || !negative) {  // beyond every finite number
    constexpr double kMost = std::numeric_limits<float>::max();
    return c.result(c.torch_as(positive ? "aten.gt.Scalar" : "aten.lt.Scalar",
                               {{"self", x}, {"other", positive ? kMost : -kMost}}, DType::b8,
                               c.shape(x)));
  }
  c.result(c.torch_as(target_of(kOperations, c.op()), {{"self", x}}, keeps ? c.dtype(x) : DType::b8,
                      c.shape(x)));
}

// A power by a number is a function of one element.
static void import_pow(Call& c) {
  const Operand x = c.operand(0), exponent = c.operand(1);
  const auto known = c.known_numbers(exponent);
  const auto same = [&] {
    return std::all_of(known->begin(), known->end(), [&](float v) { return v == (*known)[0]; });
  };
  if (c.ok() && c.dtype(x) == DType::f32 && known && !known->empty() && same() &&
      broadcast(c, c.shape(x), c.shape(exponent)) == c.shape(x))
    return c.result(c.torch("aten.pow.Tensor_Scalar",
                            {{"self", x}, {"exponent", static_cast<double>((*known)[0])}}));
  c.result(c.torch_as("aten.pow.Tensor_Tensor", {{"self", x}, {"exponent", exponent}}, c.dtype(x),
                      broadcast(c, c.shape(x), c.shape(exponent))));
}

// With the sign of the divisor, or (fmod) of what is divided.
static void import_mod(Call& c) {
  c.result(apply(c, c.integer("fmod", 0) ? "aten.fmod.Tensor" : "aten.remainder.Tensor",
                 c.operand(0), c.operand(1), ""));
}

static constexpr ImportRow kArithmeticRows[] = {
    {"Add", import_two},
    {"And", import_comparison},
    {"BitwiseAnd", import_two},
    {"BitwiseNot", import_one},
    {"BitwiseOr", import_two},
    {"BitwiseXor", import_two},
    {"Div", import_two},
    {"Equal", import_comparison},
    {"Greater", import_comparison},
    {"GreaterOrEqual", import_comparison},
    {"IsInf", import_one},
    {"IsNaN", import_one},
    {"Less", import_comparison},
    {"LessOrEqual", import_comparison},
    {"Max", import_several},
    {"Mean", import_mean},
    {"Min", import_several},
    {"Mod", import_mod},
    {"Mul", import_two, {}, false, StandIn::scale},
    {"Not", import_one},
    {"Or", import_comparison},
    {"Pow", import_pow},
    {"Sub", import_two},
    {"Sum", import_sum},
    {"Xor", import_comparison},
};
ImportRows arithmetic_rows() { return kArithmeticRows; }

}  // namespace deuteron::onnx
