// SPDX-License-Identifier: Apache-2.0
// Functions of slices along the last axis: softmax, and norms.
#include <fmt/format.h>

#include <cmath>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"
#include "kernels/softmax/kernel.h"
#include "ops/softmax/multiplier.h"

namespace deuteron::tflite {
namespace {

// Of int8, in steps of 2^-16 from -32768 on: the bits of the reference kernel.
void softmax_to_int16(Call& c, float beta) {
  const Quant y = c.declared_result(0).quant;
  c.require(std::abs(y.scale[0] * 0x1p16f - 1) <= 1e-3f && y.zero_point[0] == -32768,
            "has an int16 result of other steps than its kernel",
            fmt::format("{:g} from {} on", y.scale[0], y.zero_point[0]),
            fmt::format("{:g} from -32768 on", 0x1p-16f), "tflite.operator.scale");
  const ValueId x = c.steps_value(0);
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  c.require(shape.back() <= kMostSoftmaxWideColumns, "has too long a row for a result of int16",
            std::to_string(shape.back()), std::to_string(kMostSoftmaxWideColumns),
            "tflite.softmax.elements");
  const auto m = softmax_multiplier(c.declared(0).quant, beta, Ties::away, "tflite.softmax.scale");
  if (!m) return c.refuse(m.why);
  CallBuilder call("deuteron::softmax_s8_wide", 1, 1);
  call.in(0, plain_face(shape))
      .integer(m->input.value)
      .integer(m->input.shift)
      .integer(m->diff_min)
      .out(0, plain_face(shape));
  c.result(c.add_call(call.done().call, {x}, {DType::s16, shape, y}));
}

}  // namespace

static void import_softmax(Call& c) {
  const auto* o = c.options<SoftmaxOptions>();
  c.takes(1, 1);
  const ValueId x = c.real(0);
  if (!c.ok()) return;
  c.require(c.rank(x) >= 1, "works on a tensor without axes", "0", "1..", "tflite.softmax.rank");
  const Type& y = c.declared_result(0);
  if (has_one_scale(c.declared(0), DType::s8) && has_one_scale(y, DType::s16))
    return softmax_to_int16(c, o->beta());
  require_int16_scale(c);
  require_int16_zero(c);
  if (c.ok()) c.result(c.add(Softmax{c.rank(x) - 1, o->beta()}, {x}));
}

// x - (max + log(sum(exp(x - max)))), in float.
static void import_log_softmax(Call& c) {
  c.takes(1, 1);
  const ValueId x = c.real(0);
  c.require(c.rank(x) >= 1, "works on a tensor without axes", "0", "1..", "tflite.softmax.rank");
  if (!c.ok()) return;
  const Axes last{c.rank(x) - 1};
  Add difference;
  difference.alpha = -1;
  const ValueId below =
      c.add(difference, {x, c.add(Reduce{Reduce::kMax, last}, {x}, "most")}, "below");
  const ValueId sum =
      c.add(Reduce{Reduce::kSum, last}, {c.add(Unary{UnaryFn::exp, 0}, {below}, "exp")}, "sum");
  c.result(c.add(difference, {below, c.add(Unary{UnaryFn::log, 0}, {sum}, "log")}));
}

// x / sqrt(sum(x * x)) over the last axis, in float. TFLite takes no norm below 1e-6; of steps,
// each that is not 0 counts.
static void import_l2_normalization(Call& c) {
  const auto* o = c.options<L2NormOptions>();
  c.takes(1, 1);
  const ValueId x = c.real(0);
  c.require(c.rank(x) >= 1, "works on a tensor without axes", "0", "1..", "tflite.operand.rank");
  if (!c.ok()) return;
  c.require(o->fused_activation_function() == ActivationFunctionType::NONE,
            "has a fused activation", "", "", "tflite.operator.activation");
  // A slice of zeros stays one, whatever the length is that it counts as.
  const Quant& steps = c.declared(0).quant;
  const double least = steps.empty() ? 1e-6 : steps.scale[0] / 2,
               n = static_cast<double>(c.shape(x).back());
  const LayerNorm norm{.epsilon = static_cast<float>(least * least / n),
                       .centered = false,
                       .to_length = true,
                       .of_bytes = c.is_bytes(0)};
  const Type slice{DType::f32, {c.shape(x).back()}, {}};
  std::vector<float> weight(static_cast<size_t>(slice.elements()),
                            static_cast<float>(1 / std::sqrt(n)));
  c.result(c.add(norm, {x, c.constant("weight", slice, constant_of(std::move(weight)))}));
}

static constexpr ImportRow kSlicesRows[] = {
    {BuiltinOperator::L2_NORMALIZATION, import_l2_normalization},
    {BuiltinOperator::LOG_SOFTMAX, import_log_softmax},
    {BuiltinOperator::SOFTMAX, import_softmax, Int16::any_zero},
};
ImportRows slices_rows() { return kSlicesRows; }

}  // namespace deuteron::tflite
